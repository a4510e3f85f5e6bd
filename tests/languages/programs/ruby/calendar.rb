# Days, weeks and times.
require "date"
require "time"

start = Date.new(2024, 2, 26)
puts (start..start + 6).map { |day| day.strftime("%a %d %b") }
puts (Date.new(2024, 12, 25) - start).to_i, start.next_month.iso8601, Date.valid_date?(2023, 2, 29)
puts Date.new(2024, 1, 31) >> 1, start.cweek, Date.parse("2024-07-04").yday
moment = Time.parse("2024-03-01T12:30:00Z")
puts (moment + 3600 * 13).utc.iso8601, moment.utc.strftime("%H:%M on day %j")
fridays = (Date.new(2024, 1, 1)..Date.new(2024, 12, 31)).select { |day| day.day == 13 && day.friday? }
puts fridays.map(&:to_s).inspect
