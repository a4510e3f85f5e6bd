# Shortest ways through a graph with weights.
ROADS = {
  "A" => { "B" => 7, "C" => 9, "F" => 14 },
  "B" => { "A" => 7, "C" => 10, "D" => 15 },
  "C" => { "A" => 9, "B" => 10, "D" => 11, "F" => 2 },
  "D" => { "B" => 15, "C" => 11, "E" => 6 },
  "E" => { "D" => 6, "F" => 9 },
  "F" => { "A" => 14, "C" => 2, "E" => 9 }
}.freeze

def shortest(roads, start, goal)
  distance = Hash.new(Float::INFINITY).merge(start => 0)
  came_from = {}
  open = [start]
  until open.empty?
    place = open.min_by { |candidate| distance[candidate] }
    return [distance[goal], way(came_from, goal)] if place == goal

    open.delete(place)
    roads[place].each do |neighbour, length|
      total = distance[place] + length
      next unless total < distance[neighbour]

      distance[neighbour] = total
      came_from[neighbour] = place
      open |= [neighbour]
    end
  end
end

def way(came_from, goal)
  found = [goal]
  found.unshift(came_from[found.first]) while came_from.key?(found.first)
  found.join("-")
end

%w[B D E].each { |goal| puts shortest(ROADS, "A", goal).inspect }
