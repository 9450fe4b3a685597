import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Item } from '../../../sandbox/aws/table/change.ts'
import { observe } from './observe.ts'

const examples: Item[] = JSON.parse(readFileSync('test/versions/items.json', 'utf8'))

/** Returns the members that each item of a run has, and that no example of an earlier version has. */
const laterMembersIn = (items: readonly Item[], entity: unknown): string[] => {
  const ofEntity = items.filter((item) => item.entity === entity)
  const known = examples.filter((item) => item.entity === entity).flatMap(Object.keys)
  return Object.keys(ofEntity[0] ?? {}).filter(
    (name) => !known.includes(name) && ofEntity.every((item) => name in item),
  )
}

// To update: npx vitest run releases -u
test('the release before leaves out the members that the examples of an earlier version lack', async () => {
  const { changes } = (await observe())()
  const items: Item[] = changes.flatMap(({ after }: { after?: Item }) => (after ? [after] : []))
  const entities = [...new Set(examples.map(({ entity }) => entity))].filter(Boolean).sort()
  const later = entities.flatMap((entity) => {
    const members = laterMembersIn(items, entity)
    return members.length > 0
      ? [`  "${entity}": ${JSON.stringify(members).replaceAll(',', ', ')}`]
      : []
  })
  const text = `{\n${later.join(',\n')}\n}\n`
  await expect(text).toMatchFileSnapshot('../../../proofs/simulation/aws/later-members.json')
}, 120_000)
