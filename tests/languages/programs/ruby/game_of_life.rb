# A glider on a board without edges.
require "set"

def step(cells, size)
  neighbours = cells.flat_map do |row, column|
    [-1, 0, 1].product([-1, 0, 1]).reject { |move| move == [0, 0] }.map do |down, right|
      [(row + down) % size, (column + right) % size]
    end
  end
  neighbours.tally.filter_map { |cell, count| cell if count == 3 || (count == 2 && cells.include?(cell)) }.to_set
end

def draw(cells, size)
  (0...size).map { |row| (0...size).map { |column| cells.include?([row, column]) ? "#" : "." }.join }
end

glider = Set[[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]]
puts draw(glider, 6), ""
4.times { glider = step(glider, 6) }
puts draw(glider, 6)
