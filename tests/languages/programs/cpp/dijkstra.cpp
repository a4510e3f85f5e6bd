// Shortest ways through a graph, with a priority queue.
#include <climits>
#include <cstdio>
#include <queue>
#include <vector>

struct Edge {
    int to, length;
};

int main() {
    std::vector<std::vector<Edge>> graph(6);
    const int edges[][3] = {{0, 1, 7}, {0, 2, 9}, {0, 5, 14}, {1, 2, 10}, {1, 3, 15}, {2, 3, 11}, {2, 5, 2}, {3, 4, 6}, {4, 5, 9}};
    for (const auto &[from, to, length] : edges) {
        graph[from].push_back({to, length});
        graph[to].push_back({from, length});
    }
    std::vector<int> distance(graph.size(), INT_MAX), before(graph.size(), -1);
    using Entry = std::pair<int, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    distance[0] = 0;
    for (open.push({0, 0}); !open.empty();) {
        const auto [so_far, node] = open.top();
        open.pop();
        if (so_far > distance[node]) continue;
        for (const auto &edge : graph[node])
            if (so_far + edge.length < distance[edge.to]) {
                distance[edge.to] = so_far + edge.length;
                before[edge.to] = node;
                open.push({distance[edge.to], edge.to});
            }
    }
    for (size_t node = 0; node < graph.size(); ++node) {
        std::printf("%zu: %d by", node, distance[node]);
        for (int at = before[node]; at != -1; at = before[at]) std::printf(" %d", at);
        std::puts("");
    }
}
