# The most frequent words of a text.
text = <<~TEXT
  It was the best of times, it was the worst of times,
  it was the age of wisdom, it was the age of foolishness.
TEXT

text.downcase.scan(/[a-z]+/).tally.sort_by { |word, count| [-count, word] }.first(5).each do |word, count|
  puts format("%-6s %s", word, "*" * count)
end
