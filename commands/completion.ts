import { functionRows } from '../infra/definitions/functions.ts'
import { scenarios } from '../sandbox/scenarios/catalogue.ts'
import { nouns } from '../shared/operator/catalogue.ts'

/** Completes commands, nouns, verbs and options in shells. */

const TARGETS = ['--port', '--stage', '--output', '--watch', '--help']

type CompletionRow = {
  /** A command, a noun, or a noun and a verb. */
  after: readonly string[]
  next: readonly string[]
}

const nounRows: CompletionRow[] = Object.entries(nouns).flatMap(([noun, { verbs }]) => [
  { after: [noun], next: Object.keys(verbs) },
  ...Object.entries(verbs).map(([verb, { options }]) => {
    const own = Object.keys(options.entries).map((option) => `--${option}`)
    return { after: [noun, verb], next: [...own, ...TARGETS] }
  }),
])

/** Names that a command takes as its first word. */
const names: Record<string, readonly string[]> = {
  invoke: functionRows.map(({ name }) => name),
  trigger: scenarios.map(({ name }) => name),
}

const bash = (words: readonly string[], rows: readonly CompletionRow[]): string => {
  const cases = rows.map(
    ({ after, next }) => `    "${after.join(' ')}") next="${next.join(' ')}" ;;\n`,
  )
  return `_debit() {
  local next="" word="\${COMP_WORDS[COMP_CWORD]}" after="\${COMP_WORDS[1]}"
  case "$after" in ${Object.keys(nouns).join('|')})
    if [ "$COMP_CWORD" -gt 2 ]; then after="$after \${COMP_WORDS[2]}"; fi ;;
  esac
  case "$after" in
${cases.join('')}  esac
  if [ "$COMP_CWORD" -eq 1 ]; then next="${words.join(' ')}"; fi
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
    ...rows.map(({ after, next }) => {
      const seen = after.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
      return `complete -c debit -n "${seen}" -a "${next.join(' ')}"`
    }),
    '',
  ].join('\n')

const scripts: Record<string, typeof bash> = { bash, zsh, fish }

/**
 * Returns the script that a shell evaluates; undefined for another shell.
 * @param commands the summary, and the words and options, of each command that is not a noun
 */
export const completionOf = (
  shell: string,
  words: readonly string[],
  commands: Record<string, readonly [summary: string, words: string, ...others: unknown[]]>,
): string | undefined => {
  const rows = Object.entries(commands).map(([name, [, options]]) => {
    const own = [...(names[name] ?? []), ...options.split(' '), '--help']
    return { after: [name], next: own }
  })
  return Object.hasOwn(scripts, shell) ? scripts[shell]?.(words, [...nounRows, ...rows]) : undefined
}
