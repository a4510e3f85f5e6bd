# Reads JSON, groups it, and writes JSON.
require "json"

orders = JSON.parse(<<~ORDERS, symbolize_names: true)
  [
    {"id": 1, "customer": "Ada", "items": [{"sku": "a", "price": 2.5, "count": 4}]},
    {"id": 2, "customer": "Lin", "items": [{"sku": "b", "price": 10, "count": 1}, {"sku": "a", "price": 2.5, "count": 2}]},
    {"id": 3, "customer": "Ada", "items": []}
  ]
ORDERS

totals = orders.group_by { |order| order[:customer] }.transform_values do |own|
  own.flat_map { |order| order[:items] }.sum { |item| item[:price] * item[:count] }
end
puts JSON.generate(totals)
puts JSON.pretty_generate(orders.first)

begin
  JSON.parse('{"broken": ')
rescue JSON::ParserError => error
  puts "refused: #{error.class}"
end
