"""detector.py without graph breaks: a fixed number of candidates and detections, and a mask of the real ones."""

import torch
from torch import nn


def overlap(boxes):
    """Intersection over union of all pairs of boxes (batch, n, 4), corners as x1 y1 x2 y2."""
    corner = torch.max(boxes[:, :, None, :2], boxes[:, None, :, :2])
    far = torch.min(boxes[:, :, None, 2:], boxes[:, None, :, 2:])
    common = (far - corner).clamp(min=0).prod(-1)
    area = (boxes[..., 2:] - boxes[..., :2]).prod(-1)
    return common / (area[:, :, None] + area[:, None] - common).clamp(min=1e-9)


def nms(boxes, labels, alive, threshold: float):
    """Which boxes (batch, n, 4), best first, survive: `alive` without those that a better one of their class covers."""
    rivals = (overlap(boxes) > threshold) & (labels[:, :, None] == labels[:, None])
    for i in range(boxes.shape[1] - 1):
        covered = alive[:, i, None] & rivals[:, i, i + 1 :]
        alive = torch.cat([alive[:, : i + 1], alive[:, i + 1 :] & ~covered], dim=1)
    return alive


class DetectionHead(nn.Module):
    def __init__(self, channels: int = 16, classes: int = 3, stride: int = 8):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.score = nn.Conv2d(channels, classes, 1)
        self.distance = nn.Conv2d(channels, 4, 1)
        self.classes = classes
        self.stride = stride
        self.score_threshold, self.nms_threshold = 0.5, 0.5
        self.candidates, self.max_detections = 36, 10

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
        return self.detect(all_boxes, all_scores)

    def detect(self, boxes, scores):
        """Boxes, scores, labels and a mask of the real detections, padded to `max_detections` in each image."""
        best_scores, labels = scores.max(dim=-1)
        best_scores, order = best_scores.topk(min(self.candidates, boxes.shape[1]))
        boxes, labels = boxes.gather(1, order[..., None].expand(-1, -1, 4)), labels.gather(1, order)
        alive = nms(boxes, labels, best_scores > self.score_threshold, self.nms_threshold)
        ranked = best_scores.masked_fill(~alive, -1.0).topk(min(self.max_detections, alive.shape[1]))
        boxes = boxes.gather(1, ranked.indices[..., None].expand(-1, -1, 4))
        return boxes, ranked.values, labels.gather(1, ranked.indices), ranked.values > 0


def make():
    torch.manual_seed(0)
    return DetectionHead().eval(), (torch.randn(2, 16, 6, 6),), {}
