"""A search tree that is walked by a generator."""


class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def add(self, key):
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Node(key))
        else:
            child.add(key)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right

    def depth(self):
        return 1 + max((child.depth() for child in (self.left, self.right) if child), default=0)


root = Node(50)
for number in (30, 70, 20, 40, 60, 80, 35, 45, 65):
    root.add(number)
print(*root)
print("depth", root.depth())
