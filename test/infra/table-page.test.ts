import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tableDefinition } from '../../infra/definitions/table.ts'

const page = readFileSync('docs/table.md', 'utf8')

test('the page docs/table.md lists each index with its projected attributes, and no other index', () => {
  const [table = ''] = /^\| Index \|.*?\n\n/ms.exec(page) ?? []
  const documented = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name)
  expect(documented).toEqual(tableDefinition.indexes.map(({ name }) => name))
  const attributes = (names: readonly string[]) =>
    names
      .map((name) => `\`${name}\``)
      .join(', ')
      .replace(/, ([^,]*)$/, ' and $1')
  const projections = tableDefinition.indexes
    .filter(({ projected }) => projected.length > 0)
    .map(({ name, projected }) => `\`${name}\` projects ${attributes(projected)}`)
  expect(projections.filter((text) => !page.includes(text))).toEqual([])
})
