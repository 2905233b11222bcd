"""Library modules called from a compiled function."""
# ruff: noqa

import torch
import torch.nn as nn
import torch.nn.utils.parametrizations
import torch.nn.utils.parametrize
import torch.nn.utils.prune

lstm, gru, rnn = nn.LSTM(8, 4), nn.GRU(8, 4), nn.RNN(8, 4)
lstm_two = nn.LSTM(8, 4, num_layers=2, bidirectional=True, batch_first=True)
lstm_cell, gru_cell, rnn_cell = nn.LSTMCell(3, 3), nn.GRUCell(3, 3), nn.RNNCell(3, 3)
embedding, embedding_sparse = nn.Embedding(5, 3), nn.Embedding(5, 3, sparse=True)
embedding_norm, embedding_bag = nn.Embedding(5, 3, max_norm=1.0), nn.EmbeddingBag(5, 3)
embedding_bag_sparse = nn.EmbeddingBag(5, 3, sparse=True)
batch1, batch2 = nn.BatchNorm1d(3), nn.BatchNorm2d(3)
batch_eval = nn.BatchNorm1d(3).eval()
sync_batch = nn.SyncBatchNorm(3)
instance, layer, group, rms = (
    nn.InstanceNorm2d(3),
    nn.LayerNorm(3),
    nn.GroupNorm(1, 3),
    nn.RMSNorm(3),
)
local_response = nn.LocalResponseNorm(2)
lazy_linear, lazy_conv, lazy_batch = nn.LazyLinear(3), nn.LazyConv2d(3, 1), nn.LazyBatchNorm1d()
attention = nn.MultiheadAttention(8, 2)
attention_eval = nn.MultiheadAttention(8, 2, batch_first=True).eval()
encoder_layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
encoder_layer_eval = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
decoder_layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)
encoder_eval = nn.TransformerEncoder(
    nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1
).eval()
decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1)
transformer = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
adaptive = nn.AdaptiveLogSoftmaxWithLoss(3, 5, [2])
ctc, cross_entropy, mse = nn.CTCLoss(), nn.CrossEntropyLoss(), nn.MSELoss()
gaussian_nll, nll, bce, kl = (
    nn.GaussianNLLLoss(),
    nn.NLLLoss(),
    nn.BCEWithLogitsLoss(),
    nn.KLDivLoss(),
)
smooth, hinge, cosine = nn.SmoothL1Loss(), nn.HingeEmbeddingLoss(), nn.CosineEmbeddingLoss()
triplet, margin, multi = nn.TripletMarginLoss(), nn.MarginRankingLoss(), nn.MultiLabelMarginLoss()
linear, bilinear, identity = nn.Linear(3, 3), nn.Bilinear(3, 3, 2), nn.Identity()
conv1, conv2, conv3, transposed = (
    nn.Conv1d(3, 2, 1),
    nn.Conv2d(3, 2, 1),
    nn.Conv3d(1, 1, 1),
    nn.ConvTranspose2d(3, 2, 2),
)
dropout, dropout2, alpha = nn.Dropout(0.5), nn.Dropout2d(0.5), nn.AlphaDropout(0.5)
pool, pool_indices = nn.MaxPool2d(2), nn.MaxPool2d(2, return_indices=True)
unpool, average, adaptive_pool = nn.MaxUnpool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1)
fractional, lp = nn.FractionalMaxPool2d(2, output_size=2), nn.LPPool2d(2, 2)
fold, unfold = nn.Fold((4, 4), 2), nn.Unfold(2)
upsample, shuffle, unshuffle = nn.Upsample(scale_factor=2), nn.PixelShuffle(1), nn.PixelUnshuffle(2)
padding, reflection = nn.ZeroPad2d(1), nn.ReflectionPad2d(1)
relu, gelu, prelu, rrelu, softmax, threshold = (
    nn.ReLU(),
    nn.GELU(),
    nn.PReLU(),
    nn.RReLU(),
    nn.Softmax(-1),
    nn.Threshold(0, 0),
)
flatten, unflatten, similarity, distance = (
    nn.Flatten(),
    nn.Unflatten(1, (1, 3)),
    nn.CosineSimilarity(),
    nn.PairwiseDistance(),
)
sequential = nn.Sequential(linear, nn.ReLU())
module_list, module_dict = (
    nn.ModuleList([linear, nn.Linear(3, 3)]),
    nn.ModuleDict({"a": linear, "b": linear}),
)
parameters, parameter_dict = (
    nn.ParameterList([torch.zeros(3)]),
    nn.ParameterDict({"a": torch.zeros(3)}),
)
spectral = torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))
weight_normed = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))
orthogonal = torch.nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
old_spectral, old_weight = (
    torch.nn.utils.spectral_norm(nn.Linear(3, 3)),
    torch.nn.utils.weight_norm(nn.Linear(3, 3)),
)
pruned = torch.nn.utils.prune.l1_unstructured(nn.Linear(3, 3), "weight", 0.5)
averaged = torch.optim.swa_utils.AveragedModel(nn.Linear(3, 3))
data_parallel = nn.DataParallel(nn.Linear(3, 3))
scripted, traced = (
    torch.jit.script(nn.Linear(3, 3)),
    torch.jit.trace(nn.Linear(3, 3), torch.rand(4, 3)),
)
frozen = torch.jit.freeze(torch.jit.script(nn.Linear(3, 3).eval()))
quantized = torch.ao.quantization.FakeQuantize()
hooked = nn.Linear(3, 3)
hooked.register_forward_hook(lambda module, args, out: out + 1)
pre_hooked = nn.Linear(3, 3)
pre_hooked.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
backward_hooked = nn.Linear(3, 3)
backward_hooked.register_full_backward_hook(lambda module, g_in, g_out: None)
packed = torch.nn.utils.rnn.pack_sequence([torch.rand(3, 8), torch.rand(2, 8)])
fresh = nn.Linear(3, 3)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        return self.fc(x)


small = Small()
parametrized = nn.Linear(3, 3)
torch.nn.utils.parametrize.register_parametrization(parametrized, "weight", nn.Identity())


def cases_forward(x, y, q, i, ii, img, w, t):
    lstm(q)
    lstm_two(q)
    lstm(packed)
    gru(q)
    rnn(q)
    lstm_cell(x)
    gru_cell(x)
    rnn_cell(x)
    embedding(i)
    embedding_sparse(i)
    embedding_norm(i)
    embedding_bag(ii)
    embedding_bag(i, torch.tensor([0, 2]))
    embedding_bag_sparse(ii)
    batch1(x)
    batch2(img)
    batch_eval(x)
    sync_batch(x)  # raises
    instance(img)
    layer(x)
    group(img)
    rms(x)
    local_response(img)
    lazy_linear(x)
    lazy_conv(img)
    lazy_batch(x)
    attention(q, q, q)
    attention_eval(q, q, q)
    attention_eval(q, q, q, need_weights=False)
    encoder_layer(q)
    encoder_layer_eval(q)
    decoder_layer(q, q)
    encoder(q)
    encoder_eval(q)
    encoder_eval(q, src_key_padding_mask=torch.zeros(2, 3, dtype=torch.bool))
    decoder(q, q)
    transformer(q, q)
    adaptive(x, i)
    adaptive.log_prob(x)
    ctc(x[:, None].log_softmax(-1), i[None, :2].clamp(min=1, max=2), (4,), (2,))
    cross_entropy(x, i.clamp(max=2))
    mse(x, y)
    gaussian_nll(x, y, y)
    nll(x.log(), i.clamp(max=2))
    bce(x, y)
    kl(x, y)
    smooth(x, y)
    hinge(x, y.sign())
    cosine(x, y, torch.ones(4))
    triplet(x, y, y)
    margin(x, y, torch.ones(4, 3))
    multi(x, ii)
    linear(x)
    bilinear(x, x)
    identity(x)
    conv1(x.T)
    conv2(img)
    conv3(img[:1, :1, None])
    transposed(img)
    dropout(x)
    dropout2(img)
    alpha(x)
    pool(img)
    pool_indices(img)
    unpool(*pool_indices(img))
    average(img)
    adaptive_pool(img)
    fractional(img)
    lp(img)
    fold(torch.rand(1, 4, 9))
    unfold(img)
    upsample(img)
    shuffle(img)
    unshuffle(img)
    padding(img)
    reflection(img)
    relu(x)
    gelu(x)
    prelu(x)
    rrelu(x)
    softmax(x)
    threshold(x)
    flatten(x)
    unflatten(x)
    similarity(x, y)
    distance(x, y)
    sequential(x)
    spectral(x)  # as: torch.nn.utils.parametrizations.spectral_norm module
    weight_normed(x)  # as: torch.nn.utils.parametrizations.weight_norm module
    orthogonal(x)  # as: torch.nn.utils.parametrizations.orthogonal module
    parametrized(x)  # as: torch.nn.utils.parametrize module
    old_spectral(x)  # as: torch.nn.utils.spectral_norm module
    old_weight(x)  # as: torch.nn.utils.weight_norm module
    pruned(x)  # as: torch.nn.utils.prune module
    averaged(x)
    data_parallel(x)
    scripted(x)  # as: torch.jit.script module
    traced(x)  # as: torch.jit.trace module
    frozen(x)  # as: torch.jit.freeze module
    quantized(x)
    hooked(x)  # as: module with forward hook
    pre_hooked(x)  # as: module with forward pre-hook
    backward_hooked(x)  # as: module with backward hook
    small(x)  # as: user module
    small.forward(x)  # as: user module forward


def cases_methods(x):
    small.train()
    small.eval()
    small.training
    small.zero_grad()
    small.requires_grad_(False)
    small.parameters()
    list(small.parameters())  # as: torch.nn.Module.parameters listed
    list(small.named_parameters())  # as: torch.nn.Module.named_parameters listed
    list(small.modules())  # as: torch.nn.Module.modules listed
    list(small.named_modules())  # as: torch.nn.Module.named_modules listed
    list(small.children())  # as: torch.nn.Module.children listed
    list(small.named_children())  # as: torch.nn.Module.named_children listed
    list(small.buffers())  # as: torch.nn.Module.buffers listed
    next(small.parameters())  # as: next of torch.nn.Module.parameters
    next(small.parameters()).device  # as: next of torch.nn.Module.parameters
    next(iter(small.parameters())).dtype  # as: next of torch.nn.Module.parameters
    sum(p.numel() for p in small.parameters())  # as: sum over torch.nn.Module.parameters
    sum((p**2).sum() for p in small.parameters())  # as: sum over torch.nn.Module.parameters
    [p.grad for p in small.parameters()]  # as: gradients of torch.nn.Module.parameters
    small.state_dict()
    small.load_state_dict(small.state_dict())
    small.to("cpu")
    small.to(torch.float32)
    small.float()
    small.half()
    small.float()
    small.cpu()
    small.apply(lambda module: None)
    small.register_buffer("other", torch.zeros(3))
    small.register_parameter("other_weight", None)
    small.register_forward_hook(lambda *args: None)
    small.register_full_backward_hook(lambda *args: None)
    small.get_parameter("fc.weight")
    small.get_submodule("fc")
    small.add_module("extra", nn.ReLU())
    small.named_parameters()
    small.extra_repr()
    small._get_name()
    small.share_memory()
    small.__repr__()
    small.steps.add_(1)  # as: buffer in-place
    small.steps += 1  # as: buffer augmented assignment
    small.steps = small.steps + 1  # as: buffer assignment
    small.counter = 1  # as: new attribute of module
    small.fc.weight  # as: parameter read
    small.fc.weight.data  # as: parameter data read
    small.fc.weight.data.clamp_(-1, 1)  # as: parameter data in-place
    small.fc.weight = nn.Parameter(torch.zeros(3, 3))  # as: parameter assignment
    small._parameters  # as: module _parameters
    small.fc.in_features  # as: module attribute int
    hasattr(small, "fc")  # as: hasattr of module
    getattr(small, "fc")(x)  # as: getattr of module called
    isinstance(small, nn.Module)  # as: isinstance of module
    str(small)  # as: str of module
    len(sequential)  # as: len of torch.nn.Sequential
    sequential[0](x)  # as: torch.nn.Sequential indexed
    module_list[0](x)  # as: torch.nn.ModuleList indexed
    [e(x) for e in module_list]  # as: torch.nn.ModuleList iterated
    list(enumerate(module_list))  # as: torch.nn.ModuleList enumerated
    module_list[-1:]  # as: torch.nn.ModuleList sliced
    module_dict["a"](x)  # as: torch.nn.ModuleDict indexed
    module_dict.items()
    module_dict.keys()
    list(module_dict.values())  # as: torch.nn.ModuleDict.values listed
    "a" in module_dict  # as: in torch.nn.ModuleDict
    parameters[0] + x  # as: torch.nn.ParameterList indexed
    list(parameters)  # as: torch.nn.ParameterList listed
    parameter_dict["a"]  # as: torch.nn.ParameterDict indexed
    lstm.flatten_parameters()
    lstm.weight_ih_l0
    batch1.running_mean
    batch1.reset_running_stats()
    linear.reset_parameters()
    averaged.update_parameters(fresh)
    fresh.compile()
    fresh.register_forward_pre_hook(lambda *args: None)


small.fc.reset_parameters()
