# Sums by group from comma-separated lines.
declare -A total=() count=()
while IFS=, read -r region product amount; do
  [[ $region != region ]] || continue
  : "$product"
  total[$region]=$((${total[$region]:-0} + amount))
  count[$region]=$((${count[$region]:-0} + 1))
done <<'CSV'
region,product,amount
north,apples,30
south,pears,12
north,pears,8
east,apples,25
south,apples,40
CSV
for region in $(printf '%s\n' "${!total[@]}" | sort); do
  printf '%-6s %3d in %d (mean %d)\n' "$region" "${total[$region]}" "${count[$region]}" \
    $((total[$region] / count[$region]))
done
