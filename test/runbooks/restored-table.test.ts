import { createServer } from 'node:http'
import { matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { replicaBucket, replicaKeyAlias } from '../../infra/constructs/replication.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { keys } from '../../shared/store/keys.ts'
import { received, useServer } from '../support/servers.ts'
import { operatorWords } from './page.ts'
import { runInShell, shellOf } from './shell.ts'

/** The AWS commands of a restore, with the documented states of a table that DynamoDB restores. */

type Input = { Paths?: string[] } & Record<string, string | boolean>

const regionOf = ({ Region }: Input): string => (Region ? ` in ${Region}` : '')

const ACCOUNT = '111111111111'
const COPIES = replicaBucket({ ...stageNamed('sandbox'), account: ACCOUNT }, 'eu-west-1')

/** The keys of a bucket's objects by its path: of the time before its rule, and after a failover. */
const objects: Record<string, { region: string; keys: string[] }> = {
  's3://reports': { region: 'af-south-1', keys: ['exports/a', 'settlements/acme/early.json'] },
  [`s3://${COPIES}`]: { region: 'eu-west-1', keys: ['exports/b', 'erasures/2026-11-28/0.json'] },
}

/** Copies as documented: what `--exclude` does not match, from one Region into the other. */
const sync = ({ Paths: paths, Exclude, SourceRegion, Region }: Input): object => {
  const [from, to] = [...(paths ?? [])].map((path) => objects[path])
  expect([from?.region, to?.region]).toEqual([SourceRegion, Region])
  const isExcluded = (key: string) => matchesGlob(key, String(Exclude))
  to?.keys.push(...(from?.keys ?? []).filter((key) => !isExcluded(key) && !to.keys.includes(key)))
  return {}
}

/** A restore lasts longer than one `wait`, and a table that is not active refuses every change. */
const restoring = () => {
  const settings: Record<string, Input> = {}
  let status = 'none'
  let waits = 0
  // The stage has been restored before: its stack has the table of the time before.
  const stage = { table: 'replaced' }
  const change = (operation: string, input: Input, next: string): object => {
    if (status !== 'ACTIVE') throw new Error(`ResourceInUseException: the table is ${status}`)
    status = next
    settings[operation] = input
    return {}
  }
  const wait = (): object => {
    waits += 1
    if (status === 'CREATING' && waits < 3)
      throw new Error('Waiter TableExists failed: Max attempts')
    status = 'ACTIVE'
    return {}
  }
  const calls: Record<string, (input: Input) => object> = {
    'lambda.GetFunctionConfiguration': () => ({
      Environment: { Variables: { TABLE_NAME: stage.table, REPORTS_BUCKET: 'reports' } },
    }),
    'kms.DescribeKey': ({ KeyId }) => ({ KeyMetadata: { Arn: `arn-of-${KeyId}` } }),
    'dynamodb.RestoreTableToPointInTime': (input) => {
      status = 'CREATING'
      settings.RestoreTableToPointInTime = input
      return {}
    },
    'sts.GetCallerIdentity': () => ({ Account: ACCOUNT }),
    's3.Sync': sync,
    'dynamodb.Wait': wait,
    'dynamodb.Query': (input) => {
      settings.Query = input
      return { Items: [] }
    },
    'dynamodb.UpdateTable': (input) => {
      const name = input.NoDeletionProtectionEnabled ? 'Unprotect' : 'UpdateTable'
      return change(`${name}${regionOf(input)}`, input, 'UPDATING')
    },
    'dynamodb.DeleteTable': (input) => change('DeleteTable', input, 'ACTIVE'),
    'dynamodb.UpdateTimeToLive': (input) => change('UpdateTimeToLive', input, 'ACTIVE'),
    'dynamodb.UpdateContinuousBackups': (input) =>
      change(`UpdateContinuousBackups${regionOf(input)}`, input, 'ACTIVE'),
  }
  return { settings, stage, perform: (target: string, input: Input) => calls[target]?.(input) }
}

const aws = restoring()
const address = useServer(
  createServer(async (request, response) => {
    const { headers, body } = await received(request)
    try {
      const result = aws.perform(String(headers['x-amz-target']), JSON.parse(body))
      if (!result) throw new Error(`${headers['x-amz-target']} is not recorded`)
      response.end(JSON.stringify(result))
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ Message: (error as Error).message }))
    }
  }),
)

const REPLACED = { TableName: 'replaced' }

test('the commands of a restore give the new table stream, protection, expiry and backups, list what it lost, and delete the old one', async () => {
  const commands = shellOf('restore.md#restore-the-table').filter(
    (command) => !operatorWords(command),
  )
  const later = commands.splice(commands.findIndex((one) => one.startsWith('aws dynamodb query')))
  await runInShell({ address: address() }, commands)
  // On a later day the functions use the restored table, and the shell is another.
  aws.stage.table = String(aws.settings.RestoreTableToPointInTime?.TargetTableName)
  const remove = (name: string) =>
    runInShell({ address: address() }, [`REPLACED=${name}`, ...later])
  await expect(remove(aws.stage.table)).rejects.toThrow()
  expect(aws.settings).not.toHaveProperty('Unprotect')
  await remove(REPLACED.TableName)
  // A second restore needs another name.
  const TableName = expect.stringMatching(/^debit-collection-sandbox-restored-\d{8}T\d{4}$/)
  const [spec, expiry] = [tableDefinition.timeToLive, 'TimeToLiveSpecification']
  expect(aws.settings).toMatchObject({
    RestoreTableToPointInTime: {
      SourceTableName: REPLACED.TableName,
      TargetTableName: TableName,
      SseSpecificationOverride: expect.stringContaining('KMSMasterKeyId=arn-of-AWS::KMS::Key'),
    },
    UpdateTable: {
      ...{ TableName, DeletionProtectionEnabled: true },
      StreamSpecification: 'StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES',
    },
    UpdateTimeToLive: { TableName, [expiry]: `Enabled=true,AttributeName=${spec}` },
    UpdateContinuousBackups: {
      ...{ TableName },
      PointInTimeRecoverySpecification: 'PointInTimeRecoveryEnabled=true',
    },
    // The old table has the changes that the restored one lacks, until it is deleted.
    ...{ Query: REPLACED, Unprotect: REPLACED, DeleteTable: REPLACED },
  })
  const change = keys.change(new Date('2026-11-21T09:59:00.001Z').toISOString())
  const { ':pk': pk, ':since': since } = JSON.parse(
    String(aws.settings.Query?.ExpressionAttributeValues),
  )
  expect(pk.S).toBe(change.pk)
  expect(change.sk >= since.S).toBe(true)
})

test('the commands of a passive Region copy what no rule replicates both ways, and replicate and protect a restored table', async () => {
  // test/runbooks/sealing-key.proof.ts runs those of the key.
  const commands = shellOf('restore.md#passive-region').filter((one) => !/secretsmanager/.test(one))
  await runInShell({ address: address() }, ['RESTORED=restored', ...commands])
  expect(Object.values(objects).map(({ keys }) => keys.sort())).toEqual(
    ['exports/a', 'exports/b'].map((own) => [
      ...['erasures/2026-11-28/0.json', own, 'settlements/acme/early.json'],
    ]),
  )
  const TableName = 'restored'
  const alias = replicaKeyAlias({ name: 'sandbox' })
  expect(aws.settings).toMatchObject({
    UpdateTable: {
      TableName,
      ReplicaUpdates: `Create={RegionName=eu-west-1,KMSMasterKeyId=${alias}}`,
    },
    'UpdateTable in eu-west-1': { TableName, DeletionProtectionEnabled: true },
    'UpdateContinuousBackups in eu-west-1': {
      TableName,
      PointInTimeRecoverySpecification: 'PointInTimeRecoveryEnabled=true',
    },
  })
})
