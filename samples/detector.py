"""A detection head as used after a backbone: decode boxes, drop weak ones, suppress overlaps class by class."""

import torch
from torch import nn


def overlap(boxes, others):
    """Intersection over union of every box (n, 4) with every other (m, 4), corners as x1 y1 x2 y2."""
    corner = torch.max(boxes[:, None, :2], others[None, :, :2])
    far = torch.min(boxes[:, None, 2:], others[None, :, 2:])
    common = (far - corner).clamp(min=0).prod(-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
    other_area = (others[:, 2:] - others[:, :2]).prod(-1)
    return common / (area[:, None] + other_area[None] - common).clamp(min=1e-9)


def nms(boxes, scores, threshold: float):
    """Indices of the boxes to keep, best first."""
    order = scores.argsort(descending=True)
    kept = []
    while order.numel() > 0:
        best = order[0].item()
        kept.append(best)
        rest = order[1:]
        order = rest[overlap(boxes[best][None], boxes[rest])[0] <= threshold]
    return torch.tensor(kept, dtype=torch.long, device=boxes.device)


class DetectionHead(nn.Module):
    def __init__(self, channels: int = 16, classes: int = 3, stride: int = 8):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.score = nn.Conv2d(channels, classes, 1)
        self.distance = nn.Conv2d(channels, 4, 1)
        self.classes = classes
        self.stride = stride
        self.score_threshold, self.nms_threshold, self.max_detections = 0.5, 0.5, 10

    def decode(self, features):
        height, width = features.shape[-2:]
        rows = torch.arange(height, device=features.device) + 0.5
        columns = torch.arange(width, device=features.device) + 0.5
        y, x = torch.meshgrid(rows, columns, indexing="ij")
        centres = torch.stack([x, y, x, y], dim=-1).reshape(-1, 4) * self.stride
        distances = self.distance(features).exp().flatten(2).transpose(1, 2) * self.stride
        signs = torch.tensor([-1.0, -1.0, 1.0, 1.0], device=features.device)
        return centres + signs * distances

    def forward(self, features):
        features = self.tower(features)
        all_boxes = self.decode(features)
        all_scores = self.score(features).sigmoid().flatten(2).transpose(1, 2)
        return [self.detect(boxes, scores) for boxes, scores in zip(all_boxes, all_scores)]

    def detect(self, boxes, scores):
        best_scores, labels = scores.max(dim=-1)
        confident = best_scores > self.score_threshold
        if not confident.any():
            return boxes[:0], best_scores[:0], labels[:0]
        boxes, best_scores, labels = boxes[confident], best_scores[confident], labels[confident]
        apart = labels[:, None] * (boxes.max() + 1)  # boxes of different classes never overlap
        keep = nms(boxes + apart, best_scores, self.nms_threshold)[: self.max_detections]
        return boxes[keep], best_scores[keep], labels[keep]


def make():
    torch.manual_seed(0)
    return DetectionHead().eval(), (torch.randn(2, 16, 6, 6),), {}
