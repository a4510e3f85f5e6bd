# Other processes: what they print, how they end, what they are told.
output, status = nil
IO.popen(["tr", "a-z", "A-Z"], "r+") do |pipe|
  pipe.write("from a pipe\n")
  pipe.close_write
  output = pipe.read
end
puts output
puts `printf 'one\ntwo\n'`.lines.size, $?.success?
puts system("exit 3").inspect, $?.exitstatus

reader, writer = IO.pipe
child = fork do
  reader.close
  writer.puts((1..5).reduce(:*))
  exit! 4
end
writer.close
puts reader.read
_, status = Process.wait2(child)
puts status.exitstatus
