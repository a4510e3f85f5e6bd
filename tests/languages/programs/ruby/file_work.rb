# Files in a folder that goes away.
require "tmpdir"
require "digest"

Dir.mktmpdir do |folder|
  3.times { |index| File.write(File.join(folder, "part#{index}.txt"), "line #{index}\n" * (index + 1)) }
  File.open(File.join(folder, "all.txt"), "w") do |all|
    Dir.glob("part*.txt", base: folder).sort.each { |name| all.write(File.read(File.join(folder, name))) }
  end
  File.foreach(File.join(folder, "all.txt")).with_index(1) { |line, number| puts "#{number}: #{line}" if number.odd? }
  puts Dir.children(folder).sort.inspect
  puts Digest::SHA256.file(File.join(folder, "all.txt")).hexdigest[0, 16]
end
