"""Objects of SciPy, scikit-learn, pandas and networkx that a module keeps: a region calls them, reads what they
compute, and what they only hold."""

from programs import analysed, found, marked

MODELS = """
    import networkx as nx
    import numpy as np
    import pandas as pd
    import torch
    from scipy import sparse, stats
    from scipy.interpolate import interp1d
    from scipy.spatial import cKDTree
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    class Model(torch.nn.Module):
        def __init__(self, scaler=None):
            super().__init__()
            self.warp = self.make()
            self.tree = cKDTree(np.random.rand(5, 4))
            self.reduced = PCA(2).fit(np.random.rand(5, 4))
            self.scaler = scaler or StandardScaler().fit(np.random.rand(5, 4))
            self.matrix = sparse.coo_matrix(np.eye(4))
            self.normal = stats.norm(0, 1)
            self.table = pd.DataFrame({"a": [1.0, 2.0]})
            self.read = pd.read_csv("x.csv")
            self.graph = nx.Graph()
            self.path = nx.path_graph(3)

        def make(self):
            return interp1d(np.arange(5.0), np.arange(5.0), fill_value="extrapolate")

        def forward(self, x):
            kept = len(self.scaler.mean_) + self.matrix.shape[0] + len(self.matrix.row) + x.shape[0]
            names = self.table.columns, self.reduced.components_
            apply = lambda e: self.warp(e.numpy())  # BRK599
            warped = apply(x)
            near = self.tree.query(x.numpy())  # BRK599
            low = self.reduced.transform(x.numpy())  # BRK548
            scaled = self.scaler.transform(x.numpy())  # BRK548
            rows = self.matrix.tocsr()  # BRK599
            chance = self.normal.cdf(0.3)  # BRK599
            values = self.table.values  # BRK548
            column = self.read["a"]  # BRK548
            count = len(column)  # BRK548
            first = self.table.iloc  # BRK548
            nodes = self.path.nodes()  # BRK548
            edges = self.graph.edges  # BRK548
            return x * kept
"""


def test_what_they_compute_ends_the_graph(tmp_path):
    result = analysed(tmp_path, {"models.py": MODELS})
    assert set(found(result)) == marked((tmp_path / "models.py").read_text())
