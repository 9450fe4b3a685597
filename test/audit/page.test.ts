import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { putChange } from '../../shared/store/operator/changes.ts'
import { at, DAY_AFTER, objects, putProviders, TODAY, TOMORROW } from '../reconciliation/one-day.ts'
import { newFolder } from '../support/folders.ts'
import { rewrite, seal, useSealedWorld } from './sealed-world.ts'

/** The commands of docs/audit.md, which need only sha256sum and jq. */

useSealedWorld()

const missing = ['jq', 'sha256sum'].filter((tool) => spawnSync(tool, ['--version']).error)
const [, commands = ''] = /^```sh\n(.*?)^```$/ms.exec(readFileSync('docs/audit.md', 'utf8')) ?? []

beforeEach(async () => {
  await putProviders()
  for (const day of [TODAY, TOMORROW, DAY_AFTER]) {
    const recording = { id: 'c-1', at: at(day, '09:00:00'), by: 'ama', target: 'GCB' }
    await putChange({ ...recording, noun: 'bank', verb: 'update' }, { name: day })
    await seal(day)
  }
})

/** Runs the commands of the page in a copy of the bucket. */
const output = (): string => {
  const folder = newFolder()
  for (const [key, { body }] of objects) {
    const file = join(folder, key)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, body, 'latin1')
  }
  return execFileSync('bash', ['-c', `{\n${commands}\n} 2>/dev/null`], {
    cwd: folder,
    encoding: 'utf8',
  })
}

const NAME = 'the commands of the page find no difference in a copy, and name falsified days'

test.skipIf(missing.length > 0)(
  missing.length > 0 ? `${NAME} (skipped without ${missing.join(' and ')})` : NAME,
  () => {
    expect(output()).toBe('')
    rewrite(`${DAY_AFTER}.json`, (text) => text.replace(/"previous":{.*?}/, '"previous":null'))
    expect(output()).toBe(`${DAY_AFTER}: new chain\n`)
    rewrite(`${TOMORROW}/changes.ndjson`, (text) => text.replace('ama', 'eve'))
    expect(output()).toBe(
      `${TOMORROW}/changes.ndjson: FAILED\n${TOMORROW}: a file differs\n${DAY_AFTER}: new chain\n`,
    )
    rewrite(`${TODAY}.json`, (text) => text.replace('"generation":1', '"generation":2'))
    rewrite(`${DAY_AFTER}.json`, (text) => text.replace(`"day":"${DAY_AFTER}"`, `"day":"${TODAY}"`))
    expect(output()).toContain(`${TOMORROW}: broken link\n`)
    expect(output()).toContain(`${DAY_AFTER}: the object is of another day\n`)
    objects.delete(`${TODAY}.json`)
    expect(output()).toContain(`the first day is missing\n${TOMORROW}: broken link\n`)
  },
)
