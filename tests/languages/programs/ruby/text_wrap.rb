# Text in lines of a width, and in columns.
def wrap(text, width)
  text.split.each_with_object([+""]) do |word, lines|
    if lines.last.empty? then lines.last << word
    elsif lines.last.size + word.size < width then lines.last << " " << word
    else lines << +word
    end
  end
end

text = "The quick brown fox jumps over the lazy dog while the cat sleeps in the sun."
wrap(text, 24).each { |line| puts line.ljust(24, ".") + "|" }
puts wrap(text, 30).map { |line| line.center(32) }.map(&:rstrip)
puts %w[héllo 日本 ok].map { |word| "#{word.size}/#{word.bytesize} #{word.reverse}" }
