# Workers that share a queue, and a total behind a lock.
queue = Queue.new
results = Queue.new
lock = Mutex.new
total = 0

workers = Array.new(4) do |index|
  Thread.new do
    Thread.current[:worker] = index
    while (number = queue.pop) != :end
      results << [number, number**2]
      lock.synchronize { total += number }
    end
  end
end
(1..20).each { |number| queue << number }
workers.size.times { queue << :end }
workers.each(&:join)

squares = Array.new(results.size) { results.pop }.to_h
puts squares.sort.last(3).inspect
puts "total #{total}"

failing = Thread.new do
  Thread.current.report_on_exception = false
  raise ArgumentError, "from a thread"
end
begin
  failing.value
rescue ArgumentError => error
  puts "caught #{error.message}"
end
