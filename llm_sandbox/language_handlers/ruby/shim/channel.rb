# frozen_string_literal: true

module LLMSandbox
  # Channel of messages to and from the kernel; see guest/wrapper.py.
  class Channel
    def initialize(requests, answers)
      @requests = IO.for_fd(requests, "rb")
      @answers = IO.for_fd(answers, "wb")
      # Programs that the code starts do not get them.
      [@requests, @answers].each { |io| io.close_on_exec = true }
      @answers.sync = true
    end

    # The next message, as a hash of names to binary strings; nil when there will be no more.
    def hear
      message = {}
      while (line = @requests.gets)
        return message if line == "\n"

        name, size = line.split
        message[name] = @requests.read(size.to_i)
        @requests.read(1)
      end
      nil
    end

    def say(kind, fields = {})
      text = String.new("kind #{kind.bytesize}\n#{kind}\n", encoding: Encoding::BINARY)
      fields.each do |name, value|
        value = value.to_s.b
        text << "#{name} #{value.bytesize}\n".b << value << "\n"
      end
      @answers.write(text << "\n")
    end
  end
end
