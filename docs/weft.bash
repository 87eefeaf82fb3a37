# Made by `weft docs`; do not edit.
#
# Completion of weft and of its launcher ./weft for bash:  source docs/weft.bash
_weft()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev='' path='' words='' arguments=files with_value='' i
    [ "$COMP_CWORD" -gt 0 ] && prev=${COMP_WORDS[COMP_CWORD - 1]}
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${path:+$path }${COMP_WORDS[i]}" in
            'run'|'check'|'new'|'list'|'bench'|'bursts'|'ccu'|'ccu asm'|'ccu disasm'|'ccu check'|'docs'|'doctor'|'explain'|'firmware'|'firmware test'|'report'|'scale'|'sweep'|'compare'|'tune'|'validate') path="${path:+$path }${COMP_WORDS[i]}" ;;
        esac
    done
    case "$path" in
        '') words='run check new list bench bursts ccu docs doctor explain firmware report scale sweep compare tune validate -h --help --version --verbose build clean test'; arguments=words; with_value='' ;;
        'run') words='-h --help --set --seed -b --minbytes -e --maxbytes -f --stepfactor -n --iters --out --json --csv --log --log-components --log-limit -v --trace --trace-limit --trace-ranks --trace-links --trace-window --trace-firmware --pcap --pcap-limit --pcap-bytes --pcap-links --pcap-window --waves --replay --coverage-firmware --gdb --gdb-core --gdb-wait --host-timeout --report --quiet'; arguments=files; with_value='--set|--seed|-b|--minbytes|-e|--maxbytes|-f|--stepfactor|-n|--iters|--out|--json|--csv|--log|--log-components|--log-limit|--trace|--trace-limit|--trace-ranks|--trace-links|--trace-window|--pcap|--pcap-limit|--pcap-bytes|--pcap-links|--pcap-window|--waves|--replay|--coverage-firmware|--gdb|--gdb-core|--gdb-wait|--host-timeout' ;;
        'check') words='-h --help --set --seed -b --minbytes -e --maxbytes -f --stepfactor -n --iters --resolved --routes --schedule --rank'; arguments=files; with_value='--set|--seed|-b|--minbytes|-e|--maxbytes|-f|--stepfactor|-n|--iters|--rank' ;;
        'new') words='-h --help --set --force'; arguments=platforms; with_value='--set' ;;
        'list') words='-h --help --bounds --set'; arguments=files; with_value='--bounds|--set' ;;
        'bench') words='-h --help --repeats --quick --full --shares --out'; arguments=files; with_value='--repeats|--out' ;;
        'bursts') words='-h --help --burst --corner --sample --seed --in-trains --part --only --jobs --configs --out --quiet'; arguments=files; with_value='--burst|--sample|--seed|--part|--only|--jobs|--configs|--out' ;;
        'ccu') words='asm disasm check -h --help'; arguments=words; with_value='' ;;
        'ccu asm') words='-h --help -o --out'; arguments=files; with_value='-o|--out' ;;
        'ccu disasm') words='-h --help'; arguments=files; with_value='' ;;
        'ccu check') words='-h --help --capacity'; arguments=files; with_value='--capacity' ;;
        'docs') words='-h --help --out'; arguments=files; with_value='--out' ;;
        'doctor') words='-h --help --configs --memory'; arguments=files; with_value='--configs|--memory' ;;
        'explain') words='-h --help --case --rank --no-reruns --changes --jobs --timeout --point-timeout --json --quiet'; arguments=files; with_value='--case|--rank|--changes|--jobs|--timeout|--point-timeout|--json' ;;
        'firmware') words='test -h --help'; arguments=words; with_value='' ;;
        'firmware test') words='-h --help --list --device --core --platform --mesh --rank --runs --set --out --quiet'; arguments=files; with_value='--device|--core|--platform|--mesh|--rank|--runs|--set|--out' ;;
        'report') words='-h --help --out --published'; arguments=files; with_value='--out|--published' ;;
        'scale') words='-h --help --set --seed --to --jobs --point-timeout --json --quiet'; arguments=files; with_value='--set|--seed|--to|--jobs|--point-timeout|--json' ;;
        'sweep') words='-h --help --set --seed --jobs --timeout --point-timeout --memory --engine --sbatch --out --skip-invalid --dry-run --quiet'; arguments=files; with_value='--set|--seed|--jobs|--timeout|--point-timeout|--memory|--engine|--sbatch|--out' ;;
        'compare') words='-h --help --tolerance --html --csv --quiet'; arguments=files; with_value='--tolerance|--html' ;;
        'tune') words='-h --help --set --seed --op --sizes --factor --algorithms -n --iters --jobs --timeout --point-timeout --memory --engine --sbatch --out --json --quiet'; arguments=files; with_value='--set|--seed|--op|--sizes|--factor|--algorithms|-n|--iters|--jobs|--timeout|--point-timeout|--memory|--engine|--sbatch|--out|--json' ;;
        'validate') words='-h --help --out --json --configs --quick'; arguments=platforms; with_value='--out|--json|--configs' ;;
    esac
    COMPREPLY=()
    if [ -n "$with_value" ] && [[ "$prev" =~ ^($with_value)$ ]]; then
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    elif [[ "$cur" == -* || "$arguments" == words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    elif [ "$arguments" = platforms ]; then
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -W 'tpu_v3 switchml ub_mesh trainium ipu_pod' -- "$cur"; compgen -f -- "$cur")
    else
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _weft weft ./weft
