# Fields of a log by named groups.
LOG_LINE = /\A(?<time>\d\d:\d\d:\d\d) (?<level>[A-Z]+) +(?<path>\S+) (?<took>\d+)ms\z/

log = <<~LOG
  10:00:01 INFO  /home 12ms
  10:00:02 WARN  /cart 150ms
  nonsense
  10:00:05 ERROR /pay 900ms
  10:00:09 INFO  /home 18ms
LOG

entries, broken = log.lines(chomp: true).partition { |line| LOG_LINE.match?(line) }
by_path = entries.map { |line| LOG_LINE.match(line) }.group_by { |match| match[:path] }
by_path.each do |path, matches|
  times = matches.map { |match| match[:took].to_i }
  puts "#{path}: #{times.size} calls, mean #{times.sum.fdiv(times.size).round(1)}ms"
end
puts "not understood: #{broken.inspect}"
puts log.gsub(/(\d+)ms/) { format("%.3fs", Regexp.last_match(1).to_i / 1000.0) }.lines.first
