# A search tree, walked lazily and in order.
class Tree
  include Enumerable
  Node = Struct.new(:key, :left, :right)

  def initialize(keys = []) = keys.each { |key| self << key }

  def <<(key)
    @root = insert(@root, key)
    self
  end

  def each(node = @root, &block)
    return to_enum(:each, node) unless block
    return self unless node

    each(node.left, &block)
    yield node.key
    each(node.right, &block)
    self
  end

  def depth(node = @root) = node ? 1 + [depth(node.left), depth(node.right)].max : 0

  private

  def insert(node, key)
    return Node.new(key) unless node

    side = key < node.key ? :left : :right
    node[side] = insert(node[side], key) unless key == node.key
    node
  end
end

tree = Tree.new([50, 30, 70, 20, 40, 60, 80, 30])
puts tree.to_a.inspect, tree.depth
puts tree.each_slice(3).to_a.inspect, tree.lazy.map { |key| key / 10 }.select(&:even?).first(2).inspect
puts tree.include?(60), tree.min_by { |key| (key - 44).abs }, tree.each_cons(2).map { |low, high| high - low }.uniq.inspect
