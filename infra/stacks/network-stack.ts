import { CfnOutput, Fn, Stack, type StackProps, Tags } from 'aws-cdk-lib'
import * as ec2 from 'aws-cdk-lib/aws-ec2'
import type { Construct } from 'constructs'
import { defineLog } from '../constructs/log-group.ts'
import type { Peers } from '../definitions/permissions.ts'
import { removalPolicyOf, type Stage, type StageNetwork } from '../definitions/stages.ts'

type NetworkProps = StackProps & { stage: Stage; network: StageNetwork }

/** Defines the network of functions that call banks or receivers, with fixed public addresses. */
export class NetworkStack extends Stack {
  readonly vpc: ec2.IVpc
  readonly securityGroups: Readonly<Record<Peers, ec2.SecurityGroup>>
  readonly #zones: number

  constructor(scope: Construct, id: string, { stage, network, ...props }: NetworkProps) {
    super(scope, id, { ...props, terminationProtection: stage.keepsData })
    this.#zones = network.zones
    const addresses = this.availabilityZones.map((_, index) => {
      const address = new ec2.CfnEIP(this, `Address${index + 1}`, { domain: 'vpc' })
      // The firewalls of banks admit these addresses.
      address.applyRemovalPolicy(removalPolicyOf(stage))
      return address
    })
    const vpc = new ec2.Vpc(this, 'Vpc', {
      ipAddresses: ec2.IpAddresses.cidr(network.cidr),
      maxAzs: network.zones,
      natGatewayProvider: ec2.NatProvider.gateway({
        eipAllocationIds: addresses.map(({ attrAllocationId }) => attrAllocationId),
      }),
      subnetConfiguration: [
        {
          name: 'public',
          subnetType: ec2.SubnetType.PUBLIC,
          // The smallest subnet, because it contains a NAT gateway only.
          cidrMask: 28,
          mapPublicIpOnLaunch: false,
        },
        { name: 'private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      ],
      gatewayEndpoints: {
        table: { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB },
        reports: { service: ec2.GatewayVpcEndpointAwsService.S3 },
      },
      flowLogs: {
        all: {
          destination: ec2.FlowLogDestination.toCloudWatchLogs(defineLog(this, 'FlowLog', stage)),
        },
      },
    })
    Tags.of(vpc).add('Name', this.stackName)
    this.vpc = vpc as ec2.IVpc
    this.securityGroups = {
      // The URL of a bank can have any port.
      banks: this.#securityGroup('Banks', [ec2.Port.allTcp()]),
      receivers: this.#securityGroup('Receivers', [ec2.Port.tcp(443), ec2.Port.tcp(8443)]),
    }
    new CfnOutput(this, 'EgressAddresses', {
      value: Fn.join(
        ',',
        addresses.map(({ ref }) => ref),
      ),
    })
  }

  /** Overrides the CDK, which would look the zones up in the account. */
  override get availabilityZones(): string[] {
    return Array.from({ length: this.#zones }, (_, index) => Fn.select(index, Fn.getAzs()))
  }

  #securityGroup(peers: string, ports: ec2.Port[]): ec2.SecurityGroup {
    const group = new ec2.SecurityGroup(this, peers, {
      vpc: this.vpc,
      description: `Calls to ${peers.toLowerCase()}`,
      allowAllOutbound: false,
    })
    for (const port of ports) group.addEgressRule(ec2.Peer.anyIpv4(), port)
    return group
  }
}
