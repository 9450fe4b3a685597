import { nouns } from '../shared/operator/catalogue.ts'

/** Completes commands, nouns, verbs and options in shells. */

export const shells = ['bash', 'zsh', 'fish']

const TARGETS = ['--port', '--stage', '--output', '--watch', '--help']

type CompletionRow = {
  name: string
  /** The words after the name: verbs, or the words of a command. */
  next: readonly string[]
  /** The words after these. */
  rest: readonly string[]
}

const nounRows: CompletionRow[] = Object.entries(nouns).map(([name, { verbs }]) => {
  const options = Object.values(verbs).flatMap(({ options }) =>
    Object.keys(options.entries).map((option) => `--${option}`),
  )
  return { name, next: Object.keys(verbs), rest: [...new Set([...options, ...TARGETS])] }
})

const bash = (words: readonly string[], rows: readonly CompletionRow[]): string => {
  const cases = rows.map(
    ({ name, next, rest }) =>
      `    ${name}) next="${next.join(' ')}"; rest="${rest.join(' ')}" ;;\n`,
  )
  return `_debit() {
  local next="" rest="" word="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${cases.join('')}  esac
  if [ "$COMP_CWORD" -eq 1 ]; then next="${words.join(' ')}"
  elif [ "$COMP_CWORD" -gt 2 ]; then next="$rest"; fi
  COMPREPLY=($(compgen -W "$next" -- "$word"))
}
complete -o default -F _debit debit
`
}

/** zsh runs the completion of bash. */
const zsh: typeof bash = (words, rows) =>
  `#compdef debit\nautoload -U +X bashcompinit && bashcompinit\n${bash(words, rows)}`

const fish: typeof bash = (words, rows) =>
  [
    `complete -c debit -f`,
    `complete -c debit -n __fish_use_subcommand -a "${words.join(' ')}"`,
    ...rows.map(({ name, next, rest }) => {
      const all = [...new Set([...next, ...rest])].join(' ')
      return `complete -c debit -n "__fish_seen_subcommand_from ${name}" -a "${all}"`
    }),
    '',
  ].join('\n')

const scripts: Record<string, typeof bash> = { bash, zsh, fish }

/**
 * Returns the script that a shell evaluates; undefined for another shell.
 * @param commands the words and options of each command that is not a noun
 */
export const completionOf = (
  shell: string,
  words: readonly string[],
  commands: Record<string, { words: string }>,
): string | undefined => {
  const rows = Object.entries(commands).map(([name, command]) => {
    const own = [...command.words.split(' '), '--help']
    return { name, next: own, rest: own }
  })
  return Object.hasOwn(scripts, shell) ? scripts[shell]?.(words, [...nounRows, ...rows]) : undefined
}
