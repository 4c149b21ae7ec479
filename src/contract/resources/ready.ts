import Type from 'typebox';

export const Ready = Type.Object(
  { status: Type.Literal('ready') },
  { $id: 'Ready', description: 'The answer of the readiness probe.' },
);

export const readyExample = { status: 'ready' };
