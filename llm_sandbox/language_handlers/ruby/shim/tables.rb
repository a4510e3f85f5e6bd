# frozen_string_literal: true

module LLMSandbox
  # Tables: arrays of hashes or structs with the same keys, and CSV tables.
  module Tables
    MOST_ROWS = 100
    HALF = 50
    MOST_COLUMNS = 50
    LONGEST = 500
    SHOWN = 60
    ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;" }.freeze

    module_function

    # Returns the table record, as JSON; nil if the value is not a table.
    def record(value)
      rows = rows_of(value) or return nil
      names = rows.first.keys
      require "json"
      head, tail = ends(rows)
      cells = ->(row) { names.first(MOST_COLUMNS).map { |name| cell(row[name]) } }
      JSON.generate(
        version: 1, library: "ruby", name: nil, shape: [rows.size, names.size],
        columns: names.first(MOST_COLUMNS).map { |name| column(name, rows) },
        head: head.map(&cells), tail: tail.map(&cells)
      )
    end

    def html(value)
      rows = rows_of(value)
      names = rows.first.keys
      body = rows.first(SHOWN).map { |row| line(names.map { |name| row[name] }, "td") }
      if rows.size > SHOWN
        body << "<tr><td colspan=\"#{names.size}\">... #{rows.size - SHOWN} more</td></tr>"
      end
      "<table><thead>#{line(names, 'th')}</thead><tbody>#{body.join}</tbody></table>"
    end

    def line(values, tag)
      "<tr>#{values.map { |value| "<#{tag}>#{escape(value)}</#{tag}>" }.join}</tr>"
    end

    def escape(value)
      utf8(value.to_s).gsub(/[&<>"]/, ESCAPES)
    end

    # The rows as hashes, or nil.
    def rows_of(value)
      value = value.each.to_a if defined?(::CSV::Table) && value.is_a?(::CSV::Table)
      return nil unless value.is_a?(Array) && !value.empty?

      first = value.first
      return nil unless first.is_a?(Hash) || first.is_a?(Struct) || csv_row?(first)

      value.each { |row| return nil unless row.instance_of?(first.class) }
      rows = first.is_a?(Hash) ? value : value.map(&:to_h)
      keys = rows.first.keys
      return nil if keys.empty? || !keys.all? { |key| key.is_a?(String) || key.is_a?(Symbol) }

      rows if rows.all? { |row| row.size == keys.size && keys.all? { |key| row.key?(key) } }
    end

    def csv_row?(value)
      defined?(::CSV::Row) && value.is_a?(::CSV::Row)
    end

    def ends(rows)
      rows.size <= MOST_ROWS ? [rows, []] : [rows.first(HALF), rows.last(HALF)]
    end

    def column(name, rows)
      classes = rows.filter_map { |row| row[name].class unless row[name].nil? }.uniq
      dtype = classes.map(&:name).join(" | ")
      { name: utf8(name.to_s), type: type(classes), dtype: dtype, role: "value" }
    end

    def type(classes)
      return "other" if classes.empty?
      return "integer" if classes.all?(Integer.singleton_class) && classes == [Integer]
      return "number" if classes.all? { |kind| kind <= Numeric && kind != Complex }
      return "boolean" if (classes - [TrueClass, FalseClass]).empty?
      return "string" if (classes - [String, Symbol]).empty?

      single = classes.size == 1 ? classes.first.name : ""
      { "Time" => "datetime", "DateTime" => "datetime", "Date" => "date", "Array" => "list",
        "Hash" => "struct" }.fetch(single, "other")
    end

    def cell(value)
      case value
      when nil, true, false, Integer then value
      when Float then value.finite? ? value : nil
      when Numeric then value.to_s
      when String, Symbol then utf8(value.to_s)[0, LONGEST]
      else utf8(value.respond_to?(:iso8601) ? value.iso8601 : value.inspect)[0, LONGEST]
      end
    end

    def utf8(text)
      text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
    rescue EncodingError
      text.dup.force_encoding(Encoding::UTF_8).scrub
    end
  end
end
