# Queens that leave each other alone, by going back where there is no way on.
def queens(size, placed = [], &found)
  return yield(placed) if placed.size == size

  row = placed.size
  size.times do |column|
    free = placed.each_with_index.none? do |other, other_row|
      other == column || (other - column).abs == row - other_row
    end
    queens(size, placed + [column], &found) if free
  end
end

solutions = enum_for(:queens, 6)
solutions.each { |columns| puts columns.map { |column| ".Q"[1] .rjust(column + 1, ".").ljust(6, ".") }.join(" ") }
puts enum_for(:queens, 7).count
