import { nouns } from '../shared/operator/catalogue.ts'

/** Completes commands, nouns, verbs and options in shells. */

export const shells = ['bash', 'zsh', 'fish']

/** Returns the options of all verbs of a noun. */
const optionsOf = (noun: string): string[] => [
  ...new Set(
    Object.values(nouns[noun]?.verbs ?? {}).flatMap(({ options }) =>
      Object.keys(options.entries).map((name) => `--${name}`),
    ),
  ),
]

const TARGETS = ['--port', '--stage', '--output', '--watch', '--help']

const bash = (words: readonly string[]): string => {
  const cases = Object.entries(nouns).map(
    ([noun, { verbs }]) =>
      `    ${noun}) words="${Object.keys(verbs).join(' ')}"; options="${[...optionsOf(noun), ...TARGETS].join(' ')}" ;;\n`,
  )
  return `_debit() {
  local words="" options="--port --help" word="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${cases.join('')}  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${words.join(' ')}"
  elif [ "$COMP_CWORD" -gt 2 ]; then words="$options"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _debit debit
`
}

/** zsh runs the completion of bash. */
const zsh = (words: readonly string[]): string =>
  `#compdef debit\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`

const fish = (words: readonly string[]): string =>
  [
    `complete -c debit -f`,
    `complete -c debit -n __fish_use_subcommand -a "${words.join(' ')}"`,
    ...Object.entries(nouns).map(
      ([noun, { verbs }]) =>
        `complete -c debit -n "__fish_seen_subcommand_from ${noun}" -a "${[...Object.keys(verbs), ...optionsOf(noun), ...TARGETS].join(' ')}"`,
    ),
    '',
  ].join('\n')

const scripts: Record<string, (words: readonly string[]) => string> = { bash, zsh, fish }

/** Returns the script that a shell evaluates; undefined for another shell. */
export const completionOf = (shell: string, words: readonly string[]): string | undefined =>
  scripts[shell]?.(words)
