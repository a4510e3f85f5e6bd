# Generators by fibers, zipped together.
def generator(values)
  Fiber.new do
    values.each { |value| Fiber.yield value }
    nil
  end
end

letters = generator(%w[a b c])
numbers = generator([1, 2, 3, 4])
while (letter = letters.resume) && (number = numbers.resume)
  puts "#{letter}#{number}"
end
puts letters.alive?, numbers.resume

echo = Fiber.new do |first|
  heard = first
  loop { heard = Fiber.yield(heard.to_s.reverse) }
end
puts echo.resume("hello"), echo.resume("world")
