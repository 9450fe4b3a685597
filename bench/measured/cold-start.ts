import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { coldStart } from '../../infra/bundles/cold-start.ts'
import { type BundleComparison, buildComparisons } from '../../infra/bundles/compare-with-sdk.ts'
import { compare, type Figure, ratioOf } from '../figures.ts'
import { onFixture, setEnvironment } from '../fixture.ts'
import { call, chargeEvents, statusEvent } from '../requests.ts'
import { median } from '../samples.ts'
import { type SentCommand, tapSends } from '../sends.ts'

const FOLDER = join(import.meta.dirname, '../../dist/bench')
/** Fresh processes differ more from each other than warm requests. */
const STARTS_PER_ROUND = 3

setEnvironment()
const { handler: chargeHandler } = await import('../../functions/provider/charge.ts')
const { handler: statusHandler } = await import('../../functions/provider/get-debit-request.ts')
const { table } = await import('../../shared/store/table.ts')

/** An expression that calls one of our functions. */
const functionCall = (event: APIGatewayProxyEvent, status: number): string =>
  `it.handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 28_000 }).then((reply) => {
    if (reply.statusCode !== ${status}) throw new Error(reply.body)
  })`

type Command = { name: string; input: SentCommand['input'] }

/** An expression that sends the same commands in turn by a bundle of the SDK. */
const sdkCalls = (commands: readonly Command[]): string =>
  `(async () => {
    const client = new it._aws_sdk_client_dynamodb_DynamoDBClient({})
    const table = it._aws_sdk_lib_dynamodb_DynamoDBDocumentClient.from(client)
    for (const { name, input } of ${JSON.stringify(commands)}) {
      await table.send(new it['_aws_sdk_lib_dynamodb_' + name](input))
    }
  })()`

const recordCommands = async (work: () => Promise<unknown>): Promise<Command[]> => {
  const commands: Command[] = []
  const untap = tapSends((command, proceed) => {
    commands.push({ name: command.constructor.name, input: command.input })
    return proceed()
  })
  await work()
  untap()
  return commands
}

type Put = { Put?: { TableName: string; Item: { pk: string; sk: string } } }

/** Deletes the items that the commands created, so that they can create them again. */
const undo = async (commands: readonly Command[]): Promise<void> => {
  for (const { Put } of commands.flatMap(({ input }) => (input.TransactItems ?? []) as Put[])) {
    if (!Put) continue
    const { pk, sk } = Put.Item
    await table.send(new DeleteCommand({ TableName: Put.TableName, Key: { pk, sk } }))
  }
}

type Start = { name: string; commands: Command[]; nextCall: () => string }

/** Records the commands of the first call of each function in this process. */
const recordStarts = async (): Promise<Record<string, Start>> => {
  const event = await chargeEvents()
  const ofCharge = await recordCommands(() => call(chargeHandler, event('first'), 202))
  const status = await statusEvent(await call(chargeHandler, event('second'), 202))
  const ofStatus = await recordCommands(() => call(statusHandler, status, 200))
  // The charge cached the credential, which a fresh process reads again.
  const credential = ofCharge.filter(({ name }) => name === 'GetCommand')
  let count = 0
  return {
    charge: {
      name: 'charge',
      commands: ofCharge,
      nextCall: () => {
        count += 1
        return functionCall(event(`cold-${count}`), 202)
      },
    },
    'get-debit-request': {
      name: 'status read',
      commands: [...credential, ...ofStatus],
      nextCall: () => functionCall(status, 200),
    },
  }
}

const startFigure = async (
  { name, commands, nextCall }: Start,
  { ours, sdk }: BundleComparison,
  starts: number,
): Promise<Figure> => {
  const samples = { ours: [] as number[], base: [] as number[] }
  // The first start warms the disk and is discarded.
  for (let index = 0; index <= starts; index += 1) {
    await undo(commands)
    samples.ours.push(await coldStart(ours, nextCall(), process.env))
    samples.base.push(await coldStart(sdk, sdkCalls(commands), process.env))
  }
  return {
    name: `${name}, import and first call`,
    unit: 'ms',
    against: 'the SDK alone, the same calls',
    target: { ratioAtMost: 0.8 },
    ...compare(samples.ours.slice(1), samples.base.slice(1), (milliseconds) => milliseconds),
  }
}

const kilobytes = async (file: string): Promise<number> => (await stat(file)).size / 1_000

const sizesOf = (bundles: readonly BundleComparison[]) =>
  Promise.all(
    bundles.map(async (bundle) => ({
      bundle,
      ...ratioOf(await kilobytes(bundle.ours), await kilobytes(bundle.sdk)),
    })),
  )

const coldStarts = onFixture(async ({ rounds, short }) => {
  const sizes = await sizesOf(await buildComparisons(FOLDER))
  const starts = await recordStarts()
  const figures: Figure[] = []
  for (const { bundle, ...size } of sizes) {
    const start = starts[bundle.name]
    if (!start) continue
    const name = `${start.name}, bundle`
    const target = { ratioAtMost: 0.8 }
    figures.push(
      { name, unit: 'kB', against: 'the SDK alone', target, ...size },
      await startFigure(start, bundle, short ? rounds : rounds * STARTS_PER_ROUND),
    )
  }
  const ratios = sizes.map(({ ratio }) => ratio.median)
  const largest = sizes.toSorted((a, b) => b.ratio.median - a.ratio.median)[0]
  return {
    title: 'Cold start',
    explanation: 'A fresh Node, and a bundle of the AWS SDK that sends the same commands.',
    figures,
    notes: [
      '',
      `Bundle / SDK alone, ${sizes.length} functions: median ${median(ratios).toFixed(2)}x, largest ${largest?.ratio.median.toFixed(2)}x (\`${largest?.bundle.name}\`).`,
    ],
  }
})

export const parts = { 'cold-start': coldStarts }
