# Exceptions that are retried, ensured and caused.
class Flaky
  def initialize(failures) = @left = failures

  def call
    raise IOError, "busy (#{@left} left)" if (@left -= 1) >= 0

    :done
  end
end

def with_retries(most)
  tries = 0
  begin
    tries += 1
    [yield, tries]
  rescue IOError => error
    retry if tries < most
    raise "gave up after #{tries}"
  ensure
    puts "tried #{tries}, last error #{error&.message.inspect}"
  end
end

p with_retries(3) { Flaky.new(0).call }
flaky = Flaky.new(2)
p with_retries(3) { flaky.call }
begin
  stubborn = Flaky.new(9)
  with_retries(2) { stubborn.call }
rescue RuntimeError => error
  puts "#{error.message}, because: #{error.cause.message}"
end

found = catch(:found) do
  (1..9).each { |first| (1..9).each { |second| throw :found, [first, second] if first * second == 42 } }
  nil
end
p found
