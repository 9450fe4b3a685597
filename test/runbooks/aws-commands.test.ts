import { globSync, readFileSync } from 'node:fs'
import * as cloudformation from '@aws-sdk/client-cloudformation'
import * as dynamodb from '@aws-sdk/client-dynamodb'
import * as lambda from '@aws-sdk/client-lambda'
import * as secretsmanager from '@aws-sdk/client-secrets-manager'
import * as sqs from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { wordsOf } from './page.ts'

/** The AWS commands of the pages have the operations and options of AWS's own models. */

const models: Record<string, object> = { cloudformation, dynamodb, lambda, secretsmanager, sqs }

/** Services without a client in this project. */
const UNMODELLED = [
  'backup',
  'cloudwatch',
  'deploy',
  'kms',
  's3',
  'service-quotas',
  'stepfunctions',
  'sts',
]

/** Options of the AWS CLI itself. */
const GLOBAL = ['query', 'output', 'region', 'cli-binary-format']

/** A structure of a model: the names of its members, their schemas, and how many are required. */
type Structure = [3, string, string, unknown, string[], Schema[], number?]
type Schema = Structure | number | unknown[] | (() => Schema)
type Operation = [9, string, string, unknown, Schema, Schema]

const structureOf = (schema: Schema | undefined): Structure | undefined => {
  const own = typeof schema === 'function' ? schema() : schema
  return Array.isArray(own) && own[0] === 3 ? (own as Structure) : undefined
}

const plain = (name: string): string => name.replaceAll('-', '').toLowerCase()

const COMMAND = /\baws ([a-z0-9-]+) ([a-z-]+)((?:"[^"]*"|'[^']*'|[^|;)`\n"'])*)/g

const calls = globSync('docs/*.md').flatMap((file) =>
  [
    ...readFileSync(file, 'utf8')
      .replaceAll(/ +# .*$/gm, '')
      .replaceAll(/\\\n\s*/g, '')
      .replaceAll(/\$\((?!aws)[^)]*\)/g, 'VALUE')
      .matchAll(COMMAND),
  ].map(([text = '', service = '', operation = '', words = '']) => ({
    ...{ text: `${file}: ${text}`, service, operation },
    options: wordsOf(words.replaceAll("'", '"')),
  })),
)

const faultsOf = ({ text, service, operation, options }: (typeof calls)[number]): string[] => {
  const model = models[service] as Record<string, unknown>
  const fault = (reason: string) => [`${text}: ${reason}`]
  const own = Object.keys(model).find((name) => plain(name) === `${plain(operation)}$`)
  if (operation === 'wait') {
    const waiter = `waituntil${plain(options[0] ?? '')}`
    return Object.keys(model).some((name) => plain(name) === waiter) ? [] : fault('no waiter')
  }
  if (!own) return fault('no such operation')
  const [, , , , input, output] = model[own] as Operation
  const structure = structureOf(input)
  if (!structure) return fault('no input')
  const [, , , , names, schemas, required = 0] = structure
  const given = options.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
  const missing = names
    .slice(0, required)
    // Text omits options.
    .filter((name) => given.length > 0 && !given.some((one) => plain(one) === plain(name)))
  const wrong = given.flatMap((option) => {
    if (GLOBAL.includes(option)) return []
    // The AWS CLI writes `false` as a prefix.
    const texts = [option, option.replace(/^no-/, '')].map(plain)
    const index = names.findIndex((name) => texts.includes(plain(name)))
    const value = options[options.indexOf(`--${option}`) + 1] ?? ''
    const members = structureOf(schemas[index])?.[4]
    const keys = members ? value.split(',').map((pair) => pair.split('=')[0] ?? '') : []
    return index < 0 ? [option] : keys.filter((key) => !members?.includes(key))
  })
  const query = given.includes('query') ? (options[options.indexOf('--query') + 1] ?? '') : ''
  const [selected] = /^\w+/.exec(query) ?? []
  const isKnown = !selected || structureOf(output)?.[4].includes(selected)
  return [...missing, ...wrong, ...(isKnown ? [] : [query])].flatMap(fault)
}

test('each AWS command of the pages has a known operation, its options and its required ones', () => {
  const modelled = calls.filter(({ service }) => Object.hasOwn(models, service))
  expect(modelled.length).toBeGreaterThan(15)
  expect(modelled.flatMap(faultsOf)).toEqual([])
  const others = calls.filter((call) => !modelled.includes(call)).map(({ service }) => service)
  expect([...new Set(others)].sort()).toEqual(UNMODELLED)
})
