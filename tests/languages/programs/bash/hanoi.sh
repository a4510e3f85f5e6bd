# The towers of Hanoi, with the state of the pegs.
declare -A peg=([A]="3 2 1" [B]="" [C]="")
moves=0
move() {
  local count=$1 from=$2 to=$3 other=$4 disk
  ((count)) || return 0
  move $((count - 1)) "$from" "$other" "$to"
  disk=${peg[$from]##* }
  peg[$from]=${peg[$from]% *}
  [[ ${peg[$from]} != "$disk" ]] || peg[$from]=
  peg[$to]=${peg[$to]:+${peg[$to]} }$disk
  echo "$((++moves)): disk $disk from $from to $to"
  move $((count - 1)) "$other" "$to" "$from"
}
move 3 A C B
echo "A[${peg[A]}] B[${peg[B]}] C[${peg[C]}]"
