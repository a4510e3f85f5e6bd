# frozen_string_literal: true

# Preload of whole programs, which are called main.rb and start in the folder of their file: changes
# to the working directory, and displays values through files.
require_relative "forms"
require_relative "iruby"
require_relative "tables"

module LLMSandbox
  # Things shown by a whole program.
  module Program
    FOLDER = ENV.fetch("LLM_SANDBOX_DISPLAYS", nil)
    HERE = ENV.delete("LLM_SANDBOX_HERE")

    module_function

    def prepare
      IRuby.shows = method(:show)
      return unless HERE

      # The file is read after this one: its first line is where it begins.
      TracePoint.new(:line) do |point|
        next unless point.path == "main.rb"

        Dir.chdir(HERE)
        @start.disable
      end.then { |point| @start = point }.enable
    end

    def show(forms)
      return unless FOLDER

      require "json"
      require "fileutils"
      FileUtils.mkdir_p(FOLDER)
      number = Dir.children(FOLDER).size + 1
      bundle = forms.to_h { |mime, data| [mime, plain(mime, data)] }
      File.write(File.join(FOLDER, format("%04d.bundle.json", number)), JSON.generate(bundle))
    end

    def plain(mime, data)
      return JSON.parse(data) if mime.end_with?("json")
      return [data].pack("m0") unless mime.start_with?("text/", "image/svg")

      data.dup.force_encoding(Encoding::UTF_8).scrub
    end
  end
end

LLMSandbox::Program.prepare
