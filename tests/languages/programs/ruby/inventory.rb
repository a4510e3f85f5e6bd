# Classes, comparison, enumeration and errors of one's own.
class StockError < StandardError
  attr_reader :missing

  def initialize(name, missing)
    @missing = missing
    super("#{missing} #{name} missing")
  end
end

Article = Struct.new(:name, :count, :price) do
  include Comparable

  def <=>(other) = worth <=> other.worth
  def worth = count * price
end

class Inventory
  include Enumerable

  def initialize = @articles = {}

  def add(name, count, price)
    @articles[name] = Article.new(name, count, price)
    self
  end

  def take(name, count)
    article = @articles.fetch(name)
    raise StockError.new(name, count - article.count) if article.count < count

    article.count -= count
  end

  def each(&) = @articles.each_value(&)
end

stock = Inventory.new.add("bolt", 100, 0.2).add("nut", 80, 0.1).add("plate", 3, 15)
stock.take("bolt", 40)
begin
  stock.take("plate", 5)
rescue StockError => error
  puts error.message, error.missing
end
begin
  stock.take("gear", 1)
rescue KeyError => error
  puts error.message
ensure
  puts "checked"
end
puts stock.max.name, stock.sum(&:worth).round(2), stock.sort.map(&:name).inspect
