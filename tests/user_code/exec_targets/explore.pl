#!/usr/bin/perl
# A bandit as a process: explores each arm for four rounds, then plays the one with the larger noisy sum.
# Arguments: the scale of the Laplace noise on each sum (1 is right for epsilon 1 and rewards in [0, 1]).
use strict;
use warnings;
use JSON::PP;

$| = 1;
my $scale = @ARGV ? $ARGV[0] : 1;
my ($rewards, $arms, $horizon);

sub laplace {
    my $u = rand() - 0.5;
    return ($u < 0 ? 1 : -1) * $_[0] * log(1 - 2 * abs($u) + 1e-300);
}

while (my $line = <STDIN>) {
    my $request = decode_json($line);
    if ($request->{protocol}) {
        ($arms, $horizon) = @$request{"n_arms", "horizon"};
        print encode_json({ ready => JSON::PP::true, kind => "play", noise_factor => JSON::PP::true }), "\n";
        next;
    }
    $rewards = $request->{rewards} if $request->{rewards};
    my $width = $scale * ($request->{noise_factor} // 1);
    my @all;
    for my $seed (@{ $request->{seeds} }) {
        srand(substr($seed, -9) + 0);
        my (@actions, @sums);
        for my $t (0 .. 4 * $arms - 1) {
            my $arm = $t % $arms;
            $sums[$arm] += $rewards->[$t][$arm];
            push @actions, $arm;
        }
        my @noisy = map { $_ + laplace($width) } @sums;
        my ($best) = sort { $noisy[$b] <=> $noisy[$a] } 0 .. $arms - 1;
        push @actions, ($best) x ($horizon - 4 * $arms);
        push @all, \@actions;
    }
    print encode_json({ id => $request->{id}, actions => \@all }), "\n";
}
