import { readFileSync } from 'node:fs'
import { inFull } from '../../commands/operator-words.ts'
import { nouns } from '../../shared/operator/catalogue.ts'

/** Reads the commands of the pages for operators and engineers. */

export const PAGES = ['operations.md', 'operators.md', 'deployment.md', 'restore.md']

/** A section: its anchor, such as `operations.md#dead-letters`, and its commands in order. */
type Section = { anchor: string; commands: string[] }

/** A code block with its language, a heading, or code in a sentence. */
const PART = /^ *```(\w*)\n([\s\S]*?)^ *```$|^#+ (.+)$|`([^`\n]+)`/gm

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9\s_-]/g, '')
    .replaceAll(' ', '-')

/** Returns the words of a command without quotes. */
export const wordsOf = (command: string): string[] =>
  (command.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', ''))

/** Returns the commands of a block; a loop and a pipe are one command. */
const commandsIn = (block: string): string[] =>
  block
    .replaceAll(/^ *#.*\n| +# .*$/gm, '')
    .replaceAll(/\\\n\s*|(?<=\|)\n\s*/g, ' ')
    .replaceAll(/^ *for [\s\S]*?\ndone/gm, (loop) => loop.replaceAll('\n', '\0'))
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, ' ').replaceAll('\0', '\n'))
    .filter((line) => line !== '')

const OPERATOR = /^(?:npm run -s operator -- |operator )/

/** Returns the words after `operator`; undefined for another command. */
export const operatorWords = (command: string): string[] | undefined =>
  OPERATOR.test(command) ? inFull(wordsOf(command.replace(OPERATOR, ''))) : undefined

/** A call with options in a sentence or a table, such as `settlement run --date TODAY`. */
const isCall = (code: string): boolean => {
  const [noun = '', ...others] = inFull(wordsOf(code.replace(OPERATOR, '')))
  return Object.hasOwn(nouns, noun) && others.some((word) => word.startsWith('--'))
}

/** Returns the code blocks of a page. Those of queries and formulas have no language. */
export const blocksOf = (page: string): { language: string; block: string }[] =>
  [...readFileSync(`docs/${page}`, 'utf8').matchAll(PART)].flatMap(([, language, block = '']) =>
    language === undefined ? [] : [{ language, block }],
  )

export const sectionsOf = (page: string): Section[] => {
  const sections: Section[] = []
  const text = readFileSync(`docs/${page}`, 'utf8')
  for (const [, language, block = '', heading, code = ''] of text.matchAll(PART)) {
    if (heading) sections.push({ anchor: `${page}#${slugOf(heading)}`, commands: [] })
    const { commands = [] } = sections.at(-1) ?? {}
    if (language === 'sh') commands.push(...commandsIn(block))
    else if (isCall(code)) commands.push(`operator ${code.replace(OPERATOR, '')}`)
  }
  return sections
}

export const commandsOf = (anchor: string): string[] =>
  PAGES.flatMap(sectionsOf)
    .filter((section) => section.anchor === anchor)
    .flatMap(({ commands }) => commands)
