# expect:
# stdout: hello
print('hello')
