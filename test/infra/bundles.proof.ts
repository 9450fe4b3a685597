import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  buildBundles,
  bundleFile,
  everyFunction,
  lazyFile,
  opensRequestSecrets,
} from '../../infra/bundles/build.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { newFolder } from '../support/folders.ts'

/** The files that are deployed. `npm run test:bundles` runs them. */

const folder = newFolder()
const metafile = await buildBundles(everyFunction, folder)

test('the bundles contain no module that the build removes', () => {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs))
  const removed =
    /credential-provider-(?!node|env)|token-providers|nested-clients|event-streams\/EventStream|mnemonist|undici\/lib\/(?:cache|interceptor|mock)\//
  expect(inputs.filter((file) => removed.test(file))).toEqual([])
  expect(inputs.some((file) => file.includes('undici/lib/dispatcher/client.js'))).toBe(true)
})

test('a bundle contains a client for banks or receivers exactly if its function may call them', () => {
  const bundlesWith = (source: string): string[] =>
    functionRows
      .map(({ name }) => name)
      .filter((name) =>
        Object.entries(metafile.outputs).some(
          ([file, { inputs }]) =>
            file.includes(`/${name}/`) &&
            Object.keys(inputs).some((input) => input.endsWith(source)),
        ),
      )
  const callersOf = (...peers: string[]): string[] =>
    functionRows
      .filter(({ permissions }) => permissions.calls?.some((peer) => peers.includes(peer)))
      .map(({ name }) => name)
  expect(bundlesWith('undici/lib/dispatcher/client.js')).toEqual(callersOf('banks', 'receivers'))
  expect(bundlesWith('shared/banks/request.ts')).toEqual(callersOf('banks'))
  expect(bundlesWith('shared/webhooks/http/connection.ts')).toEqual(callersOf('receivers'))
})

test("the bundles load Node's own modules by call, never by import", async () => {
  for (const name of Object.keys(everyFunction)) {
    const text = await readFile(bundleFile(name, folder), 'utf8')
    expect(text.match(/(?:^|[;}])import[^(]{0,200}from"/), name).toBeNull()
    expect(text, name).toContain('process.getBuiltinModule("node:')
  }
})

test('the bundles are the same bytes in each build: a charge within 265 kB', async () => {
  const again = join(folder, 'again')
  await buildBundles({ charge: everyFunction.charge ?? '' }, again)
  const files = [folder, again].map((path) => readFile(bundleFile('charge', path)))
  const [first, second] = await Promise.all(files)
  expect(first?.equals(second ?? Buffer.alloc(0))).toBe(true)
  expect(first?.length).toBeLessThan(265_000)
})

test('the bundles load the client for the sealing key from another file if only some callers need it', async () => {
  for (const { name, permissions } of functionRows) {
    const text = await readFile(bundleFile(name, folder), 'utf8')
    const isLoaded = permissions.sealingKey && text.includes('"./sealing.mjs"')
    expect(isLoaded === true, name).toBe(opensRequestSecrets.has(name))
    expect(existsSync(lazyFile('sealing', name, folder)), name).toBe(opensRequestSecrets.has(name))
  }
  expect(await readFile(bundleFile('charge', folder), 'utf8')).not.toContain('secretsmanager')
})
