import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { print, runCommand } from '../../sandbox/localstack/command.ts'
import { installedPython, stackTools } from '../../sandbox/localstack/python.ts'
import { run } from '../../sandbox/localstack/run.ts'
import { StartFailure } from '../../sandbox/start-failure.ts'

/** Checks the templates of `npm run synth` with cfn-lint; .cfnlintrc has its settings. */

await runCommand(async ({ signal }) => {
  const templates = globSync('cdk.out/*.template.json').sort()
  if (templates.length === 0) throw new StartFailure('No templates in cdk.out: npm run synth')
  const python = await installedPython(stackTools, print, signal)
  const code = await run([python, join(dirname(python), 'cfn-lint'), ...templates], {
    onLine: print,
    signal,
  })
  if (code === 0) print(`cfn-lint: ${templates.length} templates without an error`)
  return code
})
