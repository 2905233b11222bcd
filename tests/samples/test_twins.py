"""Each clean twin computes what its sample computes: same weights, same inputs, same random
numbers."""

import importlib.util
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SEEDS = (0, 1, 2)


def load(name):
    spec = importlib.util.spec_from_file_location(f"sample_{name}", SAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("vocabulary", [3, 64])  # with 3 words most sentences end early
@pytest.mark.parametrize("seed", SEEDS)
def test_gpt(seed, vocabulary):
    sample, clean = load("gpt"), load("gpt_clean")
    model = sample.GPT(sample.Config(vocabulary=vocabulary)).eval()
    twin = clean.GPT(clean.Config(vocabulary=vocabulary)).eval()
    twin.load_state_dict(model.state_dict())
    prompt = torch.randint(1, vocabulary, (2, 5))
    for settings in ({"temperature": 0}, {"temperature": 0.8, "top_k": 2, "top_p": 0.9}, {"top_p": 0.5}):
        torch.manual_seed(seed)
        expected = model.generate(prompt, 12, **settings)
        torch.manual_seed(seed)
        ids = twin.generate(prompt, 12, **settings)
        length = expected.shape[1]
        assert torch.equal(ids[:, :length], expected)
        assert (ids[:, length:] == model.config.eos).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_moe(seed):
    torch.manual_seed(seed)
    model, twin = load("moe").MoE(), load("moe_clean").MoE()
    # one expert gets everything: capacity and the clamp of the balance loss both matter
    if seed == 2:
        model.router.weight.data[0] = 3.0
    twin.load_state_dict(model.state_dict())
    x = torch.randn(3, 9, 16).abs()
    for got, expected in zip(twin(x), model(x), strict=True):
        torch.testing.assert_close(got, expected)
    torch.testing.assert_close(twin.load, model.load)


@pytest.mark.parametrize("bias", [0.0, -0.3, -9.0])  # many boxes, some, none
def test_detector(bias):
    torch.manual_seed(0)
    model, twin = load("detector").DetectionHead().eval(), load("detector_clean").DetectionHead().eval()
    model.score.bias.data += bias
    twin.load_state_dict(model.state_dict())
    features = torch.randn(2, 16, 6, 6)
    boxes, scores, labels, real = twin(features)
    for image, (e_boxes, e_scores, e_labels) in enumerate(model(features)):
        torch.testing.assert_close(boxes[image][real[image]], e_boxes)
        torch.testing.assert_close(scores[image][real[image]], e_scores)
        assert torch.equal(labels[image][real[image]], e_labels)


def test_vae():
    model, twin = load("vae").VAE(warm_up=3), load("vae_clean").VAE(warm_up=3)
    twin.load_state_dict(model.state_dict(), strict=False)  # the twin's step is a buffer
    for seed in range(5):
        x = torch.rand(8, 32)
        torch.manual_seed(seed)
        loss, rebuilt = model(x)
        torch.manual_seed(seed)
        twin_loss, twin_rebuilt, kl = twin(x)
        torch.testing.assert_close(twin_loss, loss)
        torch.testing.assert_close(twin_rebuilt, rebuilt)
        assert kl.item() == pytest.approx(model.history[-1])
    loss.backward(), twin_loss.backward()
    for ours, theirs in zip(twin.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("seed", SEEDS)
def test_tagger(seed):
    torch.manual_seed(seed)
    model, twin = load("tagger").Tagger().eval(), load("tagger_clean").Tagger().eval()
    twin.load_state_dict(model.state_dict())
    words = torch.randint(1, 50, (4, 9))
    for row, end in enumerate((9, 1, 4, 7)):
        words[row, end:] = 0
    assert [[tag for tag in row if tag >= 0] for row in twin(words).tolist()] == model(words)


def test_train_step(capsys):
    sample, clean = load("train_step"), load("train_step_clean")
    model, twin = sample.Classifier(), clean.Classifier()
    twin.load_state_dict(model.state_dict())
    trainer, twin_trainer = sample.Trainer(model), clean.Trainer(twin)
    for step in range(4):
        x = torch.randn(16, 20) * (float("inf") if step == 2 else 1.0)
        labels = torch.randint(0, 4, (16,))
        assert twin_trainer.step(x, labels) == pytest.approx(trainer.step(x, labels), nan_ok=True)
    assert twin_trainer.skipped == trainer.skipped == 1
    for ours, theirs in zip(twin.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0::2] == lines[1::2]


@pytest.mark.parametrize("seed", SEEDS)
def test_diffusion(seed):
    torch.manual_seed(seed)
    sample, clean = load("diffusion"), load("diffusion_clean")
    model, twin = sample.Denoiser().eval(), clean.Denoiser().eval()
    twin.load_state_dict(model.state_dict())
    noise, label = torch.randn(2, 3, 8, 8) * (0.1 if seed == 2 else 1.0), torch.tensor([0, 3])
    torch.manual_seed(seed)
    expected = sample.Sampler(model).sample(noise, label)
    torch.manual_seed(seed)
    torch.testing.assert_close(clean.Sampler(twin).sample(noise, label), expected, rtol=1e-3, atol=1e-4)
