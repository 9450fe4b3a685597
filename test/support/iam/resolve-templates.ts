import type { TemplateNode } from '../templates.ts'

/** Resolves the intrinsic functions of templates to the values that a deployment would have. */

export const ACCOUNT = '123456789012'
export const REGION = 'eu-west-1'

const pseudoParameters: Record<string, string> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
}

const regional = `${REGION}:${ACCOUNT}`
/** ARNs of resources by type; the ARNs of other types stay their names. */
const arns: Record<string, (name: string) => string> = {
  'AWS::DynamoDB::GlobalTable': (name) => `arn:aws:dynamodb:${regional}:table/${name}`,
  'AWS::IAM::Role': (name) => `arn:aws:iam::${ACCOUNT}:role/${name}`,
  'AWS::KMS::Key': () => `arn:aws:kms:${regional}:key/1234abcd-12ab-34cd-56ef-1234567890ab`,
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:${regional}:function:${name}`,
  'AWS::Logs::LogGroup': (name) => `arn:aws:logs:${regional}:log-group:${name}:*`,
  'AWS::S3::Bucket': (name) => `arn:aws:s3:::${name}`,
  'AWS::SecretsManager::Secret': (name) =>
    `arn:aws:secretsmanager:${regional}:secret:${name}-AbCdEf`,
  'AWS::SQS::Queue': (name) => `arn:aws:sqs:${regional}:${name}`,
  'AWS::Scheduler::ScheduleGroup': (name) => `arn:aws:scheduler:${regional}:schedule-group/${name}`,
}

type Reference = (name: string, property: (name: string) => unknown) => string | undefined

/** Types whose `Ref` is not the name. */
const references: Record<string, Reference> = {
  'AWS::Lambda::Alias': (_, property) =>
    `arn:aws:lambda:${regional}:function:${property('FunctionName')}:${property('Name')}`,
  'AWS::SecretsManager::Secret': (name) => arns['AWS::SecretsManager::Secret']?.(name),
  'AWS::SQS::Queue': (name) => `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}`,
}

type DeployedResource = { id: string; type: string; arn: string; properties: TemplateNode }

/** Returns the resources of a stage with resolved properties. */
export const resolveTemplates = (templates: Record<string, TemplateNode>): DeployedResource[] => {
  const exported = new Map<string, () => unknown>()
  const inStack = (stack: string, { Resources, Parameters = {} }: TemplateNode) => {
    const nameOf = (id: string): string => {
      const { Type, Properties = {} } = Resources[id]
      const kind = Type.split('::').at(-1)
      const definedName = Properties[`${kind}Name`] ?? Properties.TableName ?? Properties.Name
      const name = definedName ? String(resolve(definedName)) : `${stack}-${id}`
      return Type === 'AWS::S3::Bucket' ? name.toLowerCase() : name
    }
    const arnOf = (id: string): string => arns[Resources[id].Type]?.(nameOf(id)) ?? nameOf(id)
    const intrinsics: Record<string, (value: TemplateNode[string]) => unknown> = {
      Ref: (value) => {
        const id = String(value)
        if (id in Parameters) return Parameters[id].Default
        if (!(id in Resources)) return pseudoParameters[id]
        const { Type, Properties } = Resources[id]
        const property = (name: string) => resolve(Properties[name])
        return references[Type]?.(nameOf(id), property) ?? nameOf(id)
      },
      'Fn::GetAtt': ([id, attribute]) => {
        if (attribute === 'Arn') return arnOf(id)
        if (attribute === 'StreamArn') return `${arnOf(id)}/stream/2026-01-01T00:00:00.000`
        return `${nameOf(id)}.${attribute}`
      },
      'Fn::GetAZs': () => ['a', 'b', 'c'].map((zone) => `${REGION}${zone}`),
      'Fn::ImportValue': (value) => exported.get(String(resolve(value)))?.(),
      'Fn::Join': ([separator, parts]) => (resolve(parts) as string[]).join(separator),
      'Fn::Split': ([separator, text]) => String(resolve(text)).split(separator),
      'Fn::Select': ([index, list]) => (resolve(list) as unknown[])[Number(index)],
      'Fn::Sub': (value) =>
        String(value).replaceAll(/\$\{([^}]+)\}/g, (_, name) => String(resolve({ Ref: name }))),
    }
    const resolve = (node: unknown): unknown => {
      if (Array.isArray(node)) return node.map(resolve)
      if (typeof node !== 'object' || node === null) return node
      const [[name = '', value] = [], ...rest] = Object.entries(node)
      const intrinsic = rest.length === 0 ? intrinsics[name] : undefined
      if (!intrinsic) {
        return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, resolve(child)]))
      }
      const resolved = intrinsic(value)
      if (resolved === undefined) throw new Error(`${stack}: unknown ${JSON.stringify(node)}`)
      return resolved
    }
    return { arnOf, resolve }
  }
  const stacks = Object.entries(templates).map(([stack, template]) => {
    const { arnOf, resolve } = inStack(stack, template)
    for (const { Value, Export } of Object.values<TemplateNode>(template.Outputs ?? {}))
      if (Export) exported.set(String(resolve(Export.Name)), () => resolve(Value))
    return { template, arnOf, resolve }
  })
  return stacks.flatMap(({ template, arnOf, resolve }) =>
    Object.entries<TemplateNode>(template.Resources).map(([id, { Type, Properties = {} }]) => ({
      id,
      type: Type,
      arn: arnOf(id),
      properties: resolve(Properties) as TemplateNode,
    })),
  )
}
