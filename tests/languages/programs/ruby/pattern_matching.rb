# Data taken apart by its shape.
def describe(shape)
  case shape
  in { type: "circle", radius: Numeric => radius } then format("circle of %.2f", Math::PI * radius**2)
  in { type: "rectangle", size: [Integer => width, Integer => height] } if width == height then "square of #{width * height}"
  in { type: "rectangle", size: [width, height] } then "rectangle of #{width * height}"
  in [] then "nothing"
  in [first, *rest] then "#{describe(first)} and #{rest.size} more"
  in String | Symbol => name then "called #{name}"
  end
end

puts describe({ type: "circle", radius: 2 })
puts describe({ type: "rectangle", size: [3, 3] })
puts describe({ type: "rectangle", size: [3, 4] })
puts describe([{ type: "circle", radius: 1 }, :other, :another])
puts describe([]), describe(:triangle)
begin
  describe(42)
rescue NoMatchingPatternError => error
  puts error.message
end

config = { db: { user: "admin", ports: [5432, 5433] } }
config => { db: { user:, ports: [_, port] } }
puts "#{user}@#{port}"
