import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Expands `a/{b,c}.ts` to `a/b.ts` and `a/c.ts`. */
const expanded = (path: string): string[] => {
  const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? []
  return names ? names.split(',').map((name) => `${before}${name}${after}`) : [path]
}

test('each file in the table of changes exists', () => {
  const rows = readFileSync('README.md', 'utf8').match(/^\|.*$/gm) ?? []
  const paths = [...rows.join('\n').matchAll(/`([^`\s]+\/[^`\s]+\.\w+)`/g)]
    .flatMap(([, path = '']) => expanded(path))
    .filter((path) => !/NAME|NOUN/.test(path))
  expect(paths.length).toBeGreaterThan(80)
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
})
