// A binary search tree that is drawn, walked and measured.
class Tree {
  constructor(values = []) {
    this.root = null;
    values.forEach((value) => this.add(value));
  }
  add(value) {
    const node = { value, left: null, right: null };
    if (this.root === null) {
      this.root = node;
      return;
    }
    let at = this.root;
    for (;;) {
      const side = value < at.value ? "left" : "right";
      if (at[side] === null) {
        at[side] = node;
        return;
      }
      at = at[side];
    }
  }
  *[Symbol.iterator](node = this.root) {
    if (node === null) return;
    yield* this[Symbol.iterator](node.left);
    yield node.value;
    yield* this[Symbol.iterator](node.right);
  }
  depth(node = this.root) {
    return node === null ? 0 : 1 + Math.max(this.depth(node.left), this.depth(node.right));
  }
  draw(node = this.root, indent = "") {
    if (node === null) return;
    this.draw(node.right, `${indent}    `);
    console.log(`${indent}${node.value}`);
    this.draw(node.left, `${indent}    `);
  }
}

const tree = new Tree([8, 3, 10, 1, 6, 14, 4, 7, 13]);
console.log(...tree);
console.log("depth", tree.depth(), "sum", [...tree].reduce((a, b) => a + b));
tree.draw();
