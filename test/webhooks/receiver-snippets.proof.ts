import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../sandbox/local-server.ts'
import { useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'
import { deliveries, secret, signed, snippetOf } from '../support/signed-deliveries.ts'

/** The receivers that docs/webhooks.md and docs/integration.md show, in languages of their own. */

const start = useCommands()
const folder = newFolder()

/** Reads [headers, body, secret] of each delivery, and prints a list of booleans. */
const MAIN_GO = `package main

import (
	"encoding/json"
	"net/http"
	"os"
	"shop/receiver"
)

func main() {
	var cases []struct {
		Headers      map[string]string
		Body, Secret string
	}
	json.NewDecoder(os.Stdin).Decode(&cases)
	verdicts := []bool{}
	for _, one := range cases {
		headers := http.Header{}
		for name, value := range one.Headers {
			headers.Set(name, value)
		}
		verdicts = append(verdicts, receiver.IsGenuine(headers, []byte(one.Body), one.Secret))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
`

const MAIN_PHP = `<?php
require 'receiver.php';
$cases = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(fn ($one) => is_genuine($one['headers'], $one['body'], $one['secret']), $cases));
`

/** Writes the snippet of a language, and returns the command that runs it. */
const languages: Record<string, () => [program: string, words: string[]]> = {
  go: () => {
    mkdirSync(join(folder, 'receiver'))
    writeFileSync(join(folder, 'go.mod'), 'module shop\n\ngo 1.21\n')
    writeFileSync(join(folder, 'receiver/receiver.go'), snippetOf('go'))
    writeFileSync(join(folder, 'main.go'), MAIN_GO)
    execFileSync('go', ['build', '-o', 'verify', '.'], { cwd: folder, stdio: 'inherit' })
    return [join(folder, 'verify'), []]
  },
  php: () => {
    writeFileSync(join(folder, 'receiver.php'), snippetOf('php'))
    writeFileSync(join(folder, 'main.php'), MAIN_PHP)
    return ['php', ['main.php']]
  },
}

test.for(Object.keys(languages))(
  'the published snippet for %s accepts genuine webhooks only',
  (language, { skip }) => {
    const found = ['version', '--version'].some((word) => spawnSync(language, [word]).status === 0)
    skip(!found, `${language} is not installed`)
    const [program, words] = languages[language]?.() ?? expect.fail()
    const cases = deliveries()
    const input = JSON.stringify(
      cases.map(([, , headers, body, secret]) => ({ headers, body, secret })),
    )
    const printed = execFileSync(program, words, { cwd: folder, input, encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual(cases.map(([, isGenuine]) => isGenuine))
  },
)

/** Starts the receiver of docs/integration.md, and returns a function that sends it an event. */
const startReceiver = async () => {
  const port = await freePort()
  writeFileSync(
    join(folder, 'receiver.mjs'),
    snippetOf('js', 'docs/integration.md').replace('8080', `${port}`),
  )
  if (!existsSync(join(folder, 'node_modules'))) {
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  }
  const { exited } = start(
    ['--eval', `process.chdir('${folder}'); import('${folder}/receiver.mjs')`],
    { WEBHOOK_SECRET: secret },
  )
  const send = (body: string, headers = signed(0, body)) =>
    fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', headers, body }).then(
      ({ status }) => status,
    )
  await eventually(async () => expect(await send('{}', {})).toBe(401))
  return { send, exited }
}

test('the receiver of docs/integration.md answers 204 to events that it has stored only', async () => {
  const file = join(folder, 'events.jsonl')
  const body = '{"event":"ping","event_id":"evt_1","data":{}}'
  const { send } = await startReceiver()
  expect([await send(body), await send(body)]).toEqual([204, 204])
  expect(readFileSync(file, 'utf8')).toBe(`${body}\n`)
  rmSync(file)
  // Nothing can be stored.
  mkdirSync(file)
  const broken = await startReceiver()
  await expect(broken.send(body)).rejects.toThrow('fetch failed')
  expect(await broken.exited).not.toBe(0)
})
