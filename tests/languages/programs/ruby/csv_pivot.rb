# A table of comma-separated values, turned around.
require "csv"

rows = CSV.parse(<<~ROWS, headers: true, converters: :numeric)
  city,year,people
  Oslo,2020,697
  Oslo,2021,702
  Bergen,2020,285
  Bergen,2021,286
  "Mo, i Rana",2021,18
ROWS

years = rows.map { |row| row["year"] }.uniq.sort
table = CSV.generate do |csv|
  csv << ["city", *years]
  rows.group_by { |row| row["city"] }.each do |city, own|
    csv << [city, *years.map { |year| own.find { |row| row["year"] == year }&.[]("people") }]
  end
end
puts table
puts rows.sum { |row| row["people"] }
