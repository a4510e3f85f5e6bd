# Runs pieces of Perl in one interpreter that stays. It is told on descriptor 3 and answers on 4, in
# the messages of llm_sandbox/guest/fields.py and wrapper.py. Package variables stay, `my` does not.
package LLMSandbox;
use strict;
use warnings;
use Fcntl;
use IO::Handle;

open my $requests, '<&=', 3 or die $!;
open my $answers, '>&=', 4 or die $!;
fcntl $_, F_SETFD, FD_CLOEXEC for $requests, $answers;    # not for what the code starts
my $own = $$;
BEGIN { *CORE::GLOBAL::exit = sub { $$ == $own ? die bless [ $_[0] // 0 ], 'LLMSandbox::Exit' : CORE::exit($_[0] // 0) } }

sub hear {
    my %message;
    while (defined(my $line = <$requests>)) {
        return \%message unless my ($name, $size) = $line =~ /^(.*) (\d+)$/;
        read $requests, $message{$name}, $size;
        read $requests, my $end, 1;
    }
    CORE::exit;
}

sub answer {    # NAME VALUE, NAME VALUE ...: the first is the kind
    my $text = '';
    while (my ($name, $value) = splice @_, 0, 2) {
        utf8::encode($value) if utf8::is_utf8($value);
        $text .= sprintf("%s %d\n", $name, length $value) . "$value\n";
    }
    $_->flush for *STDOUT, *STDERR;    # what was printed stands before what is told
    print $answers "$text\n";
    $answers->flush;
}

sub main::show { my ($mime, $data) = @_; answer(kind => 'display', "data:$mime" => $data); hear() }

sub failed {
    my ($error, $type) = @_;
    my $name = $error eq "Interrupt\n" ? 'Interrupt' : ref $error || 'Died';
    my ($line) = $error =~ / at main\.pl line (\d+)/;
    (my $value = $error) =~ s/ at main\.pl line \d+\.?\n\z|\n\z//;
    answer(kind => 'error', name => $name, value => $value, traceback => "$error", type => $type, line => $line // '');
    hear();
}

answer(kind => 'ready');
while (my $message = hear()) {
    $SIG{INT} = sub { };
    if ($message->{kind} eq 'set') {
        if (defined $message->{value}) { $ENV{ $message->{name} } = $message->{value} }
        else { delete $ENV{ $message->{name} } }
    }
    next unless $message->{kind} eq 'run';
    STDIN->clearerr;
    my $code = eval qq{package main; no strict; no warnings; sub {\n#line 1 "main.pl"\n$message->{code}\n}};
    my ($error, $type) = ($@, 'syntax');
    if ($code) {
        $type = 'exception';
        local $SIG{INT} = sub { die "Interrupt\n" };
        $error = eval { $code->(); 1 } ? '' : $@ || 'Died';
        $SIG{INT} = sub { };
    }
    CORE::exit(0) if $$ != $own;    # a child that the code has forked ends here
    if (ref $error eq 'LLMSandbox::Exit') { answer(kind => 'done', status => 'ok', exit => $error->[0]) }
    elsif ($error ne '') { failed($error, $type); answer(kind => 'done', status => 'error') }
    else { answer(kind => 'done', status => 'ok') }
}
