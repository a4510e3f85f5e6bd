# Closures, and what is made of them.
def counter(step = 1)
  value = 0
  { up: -> { value += step }, down: -> { value -= step }, value: -> { value } }
end

one = counter
five = counter(5)
3.times { one[:up].call }
five[:up].call
one[:down].call
puts [one, five].map { |made| made[:value].call }.inspect

double = ->(number) { number * 2 }
increment = :succ.to_proc
puts (double >> increment).call(10)
puts (double << increment).call(10)

add = ->(first, second, third) { first + second + third }.curry
puts add[1][2][3], add.(1, 2).(10)

memo = Hash.new { |known, number| known[number] = number < 2 ? number : known[number - 1] + known[number - 2] }
puts memo[80]
