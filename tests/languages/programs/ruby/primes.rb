# Primes by a sieve, and without end by an enumerator.
def sieve(limit)
  marks = Array.new(limit + 1, true)
  (2..Math.sqrt(limit)).each do |number|
    (number * number).step(limit, number) { |multiple| marks[multiple] = false } if marks[number]
  end
  (2..limit).select { |number| marks[number] }
end

endless = Enumerator.new do |yielder|
  number = 2
  loop do
    yielder << number if (2..Integer.sqrt(number)).none? { |divisor| (number % divisor).zero? }
    number += 1
  end
end

puts sieve(50).join(" ")
puts endless.lazy.select { |prime| prime % 10 == 7 }.first(5).inspect
