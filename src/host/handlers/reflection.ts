/** Tells tools such as `buf curl` what the host serves, so that they need no schema. */
import { create, toBinary } from "@bufbuild/protobuf";
import type { DescFile, DescMessage, DescService } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ErrorResponseSchema,
  FileDescriptorResponseSchema,
  ListServiceResponseSchema,
  ServerReflection,
  ServerReflectionResponseSchema,
  ServiceResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import type {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";

type Answer = ServerReflectionResponse["messageResponse"];

export function reflection(served: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const services = [...served, ServerReflection];
  const files = withDependencies(services.map((service) => service.file));
  return {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield create(ServerReflectionResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: answerTo(request, services, files),
        });
      }
    },
  };
}

function answerTo(
  { messageRequest }: ServerReflectionRequest,
  services: readonly DescService[],
  files: readonly DescFile[],
): Answer {
  switch (messageRequest.case) {
    case "listServices":
      return listOf(services);
    case "fileByFilename":
      return describe(
        // Descriptors name a file without its ending.
        files.find((file) => `${file.name}.proto` === messageRequest.value),
        messageRequest.value,
      );
    case "fileContainingSymbol":
      return describe(
        files.find((file) => declares(file, messageRequest.value)),
        messageRequest.value,
      );
    case undefined:
      return failure(Code.Unimplemented, "this question is not answered here");
  }
}

function listOf(services: readonly DescService[]): Answer {
  const service = services.map(({ typeName }) => create(ServiceResponseSchema, { name: typeName }));
  return { case: "listServicesResponse", value: create(ListServiceResponseSchema, { service }) };
}

function describe(file: DescFile | undefined, asked: string): Answer {
  if (file === undefined) return failure(Code.NotFound, `nothing here is called ${asked}`);
  const protos = withDependencies([file]).map((one) =>
    toBinary(FileDescriptorProtoSchema, one.proto),
  );
  const value = create(FileDescriptorResponseSchema, { fileDescriptorProto: protos });
  return { case: "fileDescriptorResponse", value };
}

function failure(code: Code, message: string): Answer {
  const value = create(ErrorResponseSchema, { errorCode: code, errorMessage: message });
  return { case: "errorResponse", value };
}

/** True for the name of a service, method, message or enum of the file. */
function declares(file: DescFile, symbol: string): boolean {
  const names = [
    ...file.services.flatMap((one) => [
      one.typeName,
      ...one.methods.map((method) => `${one.typeName}.${method.name}`),
    ]),
    ...file.messages.flatMap(namesWithin),
    ...file.enums.map((one) => one.typeName),
  ];
  return names.includes(symbol);
}

function namesWithin(message: DescMessage): readonly string[] {
  return [
    message.typeName,
    ...message.nestedMessages.flatMap(namesWithin),
    ...message.nestedEnums.map((one) => one.typeName),
  ];
}

/** The files and all they import, each once, the asked ones first. */
function withDependencies(roots: readonly DescFile[]): readonly DescFile[] {
  const found = new Set<DescFile>();
  const waiting = [...roots];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (found.has(file)) continue;
    found.add(file);
    waiting.push(...file.dependencies);
  }
  return [...found];
}
