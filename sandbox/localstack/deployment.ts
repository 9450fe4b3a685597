import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOCAL_STAGE } from '../../infra/definitions/resource-name.ts'
import { StartFailure } from '../start-failure.ts'
import { mustRun, ROOT, type RunOptions, run } from './run.ts'

const REGION = 'eu-west-1'
const ACCOUNT = '000000000000'
const LINES_OF_FAILURE = 30

/** Types without a resource provider in LocalStack's CloudFormation; their attributes are `unknown`. */
export const ignoredTypes = [
  'AWS::Backup::BackupPlan',
  'AWS::Backup::BackupSelection',
  'AWS::Backup::BackupVault',
  'AWS::CloudTrail::Trail',
  'AWS::CloudWatch::Dashboard',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::Logs::QueryDefinition',
  'AWS::WAFv2::LoggingConfiguration',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
  'Custom::S3AutoDeleteObjects',
]

/** Removes the shell's AWS settings, so that no call can reach AWS. */
export const usePlaceholderCredentials = (): void => {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) delete process.env[name]
  }
  Object.assign(process.env, {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  })
}

/** Directs the clients of this process, and of the commands that it starts, to LocalStack. */
export const useEndpoint = (endpoint: string): void => {
  // The CDK needs AWS_ENDPOINT_URL_S3.
  Object.assign(process.env, { AWS_ENDPOINT_URL: endpoint, AWS_ENDPOINT_URL_S3: endpoint })
}

/** Synthesizes the stacks of the stage `local` into a folder. */
export const synthesize = (assembly: string, signal: AbortSignal): Promise<void> =>
  mustRun([process.execPath, 'sandbox/localstack/app.ts'], {
    env: { ...process.env, CDK_OUTDIR: assembly },
    signal,
  })

/** Counts the resources of synthesized templates. */
export const resourcesIn = (assembly: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const file of globSync(join(assembly, '*.template.json'))) {
    const { Resources = {} } = JSON.parse(readFileSync(file, 'utf8'))
    for (const { Type } of Object.values(Resources) as { Type: string }[]) {
      counts.set(Type, (counts.get(Type) ?? 0) + 1)
    }
  }
  return counts
}

/** @throws StartFailure with the last lines of the CDK's output */
const cdk = async (
  args: readonly string[],
  { onLine = () => undefined, ...options }: Omit<RunOptions, 'onLine'> & Partial<RunOptions>,
): Promise<void> => {
  const lines: string[] = []
  const addLine = (line: string) => {
    lines.push(line)
    onLine(line)
  }
  const command = [process.execPath, join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...args, '--ci']
  if ((await run(command, { ...options, onLine: addLine })) === 0) return
  throw new StartFailure([...lines.slice(-LINES_OF_FAILURE), `cdk ${args[0]} failed`].join('\n'))
}

/** @param folder without cdk.json, so that the CDK needs no synthesis */
export const bootstrap = (folder: string, signal: AbortSignal): Promise<void> =>
  cdk(['bootstrap', `aws://${ACCOUNT}/${REGION}`], { signal, cwd: folder })

/** Deploys all synthesized stacks with the CDK, as on AWS. @returns the address of the API */
export const deploy = async (
  endpoint: string,
  assembly: string,
  { signal, onCreated }: { signal: AbortSignal; onCreated: (resources: number) => void },
): Promise<string> => {
  let created = 0
  const onLine = (line: string) => {
    if (line.includes('| CREATE_COMPLETE')) onCreated(++created)
  }
  const outputs = join(assembly, 'outputs.json')
  const args = ['deploy', '--all', '--app', assembly, '--require-approval', 'never']
  await cdk([...args, '--outputs-file', outputs], { signal, onLine })
  const address = /https:\/\/(\w+)\.execute-api\.[^/]+\//.exec(readFileSync(outputs, 'utf8'))
  if (!address) throw new StartFailure('No output of a stack contains the address of the API')
  return `${endpoint}/_aws/execute-api/${address[1]}/${LOCAL_STAGE}`
}
