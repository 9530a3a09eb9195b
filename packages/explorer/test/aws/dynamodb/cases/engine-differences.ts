/** How local engines differ from AWS, by the title of the case that shows it. They have the other cases right. */

/** DynamoDB Local 3.3, AWS's own; that AWS does otherwise is recorded where the case says. */
const WHOLE_ATTRIBUTE = "returns the whole attribute";
const UPDATE_OF_NOTHING = "takes an Update without an UpdateExpression";
const NO_REASON = "refuses the whole request instead of naming the action";

/** dynoxide 1.2.1. */
const SAME_OPERANDS = "compares an attribute with itself";
const NO_STATIC_TYPES = "finds out only when it compares";
const TYPE_NAMES = "takes any operand for the name of a type";
const NO_EXPRESSION_LIMITS = "has no limits for operators and operands";
const PADS_LISTS = "fills up the list with nulls";
const MISSING_PARENTS = "removes nothing from what is not there";
const WRITTEN_NUMBERS = "takes differently written numbers for different members";
const LOOSE_UPDATES = "does it";
const ONE_SET = "takes one SET with commas, not several";
const KEY_TYPES = "finds nothing for a key of the wrong type";

export const ENGINE_DIFFERENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "dynamodb-local": {
    'the condition "size = :v" is refused with :v {N:5}':
      "takes size and convert for names, though they are on the list of reserved words",
    'the update "SET a = :v-:v" changes what it says with :v {N:1e-20}':
      "writes the zero that is left of two small numbers with all its decimals",
    "a put and a delete of nothing return nothing": "tells the capacity of a delete of nothing, unasked",
    "the update SET obj.x = :v returns as UPDATED_OLD what that says": WHOLE_ATTRIBUTE,
    "the update SET obj.x = :v, obj.z = :v returns as UPDATED_NEW what that says": WHOLE_ATTRIBUTE,
    "the update SET arr[2] = :v, arr[0] = :v returns as UPDATED_NEW what that says": WHOLE_ATTRIBUTE,
    "an action is one of four, with what it needs": UPDATE_OF_NOTHING,
    "an update of a path that does not exist is the reason of its action": NO_REASON,
    "an update of an attribute that does not exist is the reason of its action": NO_REASON,
    "an update of an attribute of another type is the reason of its action": NO_REASON,
    "an update of a set in place of a number is the reason of its action": NO_REASON,
    "the first action that does not fit its table is the only reason":
      "looks at the conditions of the other actions all the same",
    "a wrong key is the reason of its get": "cancels without any reasons",
    "a table with throughput on demand is refused": "takes both",
    "a query that finds nothing pays for one read": "tells 0 units",
    "batches tell for each table": "does not count the gets that find nothing",
    "a repeated transaction tells what it read":
      "neither tells the kind of units nor that a repetition only reads",
  },
  dynoxide: {
    'the condition "(n) = (:v)" holds with :v {N:5}': "has no parentheses around operands",
    'the condition "_x = :v" is refused with :v {N:5}': "lets names begin with an underscore",
    'the condition "ATTRIBUTE_EXISTS(n)" is refused': "reads the names of functions in any case",
    'the condition "n = n" is refused': SAME_OPERANDS,
    'the condition "n < n" is refused': SAME_OPERANDS,
    'the condition "begins_with(str, str)" is refused': SAME_OPERANDS,
    'the condition "n BETWEEN n AND :v" is refused with :v {N:5}': SAME_OPERANDS,
    'the condition "n IN (n)" is refused': SAME_OPERANDS,
    'the condition "n < :v" is refused with :v {BOOL:true}': NO_STATIC_TYPES,
    'the condition "n >= :v" is refused with :v {SS:[a]}': NO_STATIC_TYPES,
    'the condition "n BETWEEN :v AND :v" is refused with :v {BOOL:true}': NO_STATIC_TYPES,
    'the condition "attribute_type(n, :v)" is refused with :v {S:X}': TYPE_NAMES,
    'the condition "attribute_type(n, :v)" is refused with :v {N:1}': TYPE_NAMES,
    'the condition "attribute_type(n, str)" is refused': TYPE_NAMES,
    'the condition "#obj.#x = obj.x" is refused with #obj obj, #x x': SAME_OPERANDS,
    'the condition "n IN (:v0,:v1,:v2,:v3,:v4,:v5,:v6,:v7,:v8,:v9,:v10,:v11,:v12…" is refused':
      NO_EXPRESSION_LIMITS,
    'the condition "n = :v OR  n = :v OR  n = :v OR  n = :v OR  n = :v OR  n = :…" is refused with :v {N:5}':
      NO_EXPRESSION_LIMITS,
    'the update "SET arr[9] = :v" changes what it says with :v {N:9}': PADS_LISTS,
    'the update "SET arr[9] = :v, arr[7] = :w" changes what it says with :v {S:9}, :w {S:7}': PADS_LISTS,
    'the update "SET arr[9] = :v REMOVE arr[0]" changes what it says with :v {N:9}': PADS_LISTS,
    'the update "REMOVE arr[0], arr[2]" changes what it says':
      "removes elements one after the other, by indexes that have moved",
    'the update "REMOVE arr[0], arr[1], arr[2]" changes what it says':
      "removes elements one after the other, by indexes that have moved",
    'the update "ADD arr[9] :v" changes what it says with :v {N:2}': PADS_LISTS,
    'the update "REMOVE nope.x" is refused': MISSING_PARENTS,
    'the update "REMOVE str.x" is refused': MISSING_PARENTS,
    'the update "REMOVE obj.nope.x" is refused': MISSING_PARENTS,
    'the update "REMOVE obj[0]" is refused': MISSING_PARENTS,
    'the update "REMOVE arr[9].x" is refused': MISSING_PARENTS,
    'the update "ADD nums :v" changes what it says with :v {NS:[3,1.0]}': WRITTEN_NUMBERS,
    'the update "DELETE nums :v" changes what it says with :v {NS:[1.0]}': WRITTEN_NUMBERS,
    'the update "DELETE nope.x :v" is refused with :v {SS:[x]}': MISSING_PARENTS,
    'the update "SET a = (n + :v) + :v" is refused with :v {N:1}': LOOSE_UPDATES,
    'the update "SET a = ((:v))" is refused with :v {N:1}': LOOSE_UPDATES,
    'the update "SET a = list_append(list_append(arr, :v), :v)" is refused with :v {L:[]}': LOOSE_UPDATES,
    'the update "SET arr[5].x = :v" is refused with :v {N:1}': PADS_LISTS,
    'the projection "obj.x, obj[0]" is refused': "takes a map for a list",
    "a set of texts in another order is a value": "keeps the order in which they were written",
    "a set of numbers in another order is a value": "keeps the order in which they were written",
    "an attribute has a name": "takes the empty name",
    "an update of a missing item has no old attributes": "returns the key",
    "the update SET arr[2] = :v, arr[0] = :v returns as UPDATED_NEW what that says": "returns the whole list",
    'the key condition "pk = :a AND begins_with(sk, :v)" is refused with :v {N:2}':
      "takes a number for a text",
    'the key condition "pk = :a AND sk = :v" is refused with :v {S:2}': KEY_TYPES,
    'the key condition "pk = :a AND sk > :v" is refused with :v {N:1}': KEY_TYPES,
    'the key condition "pk = :a" is refused': "finds nothing for an empty key",
    "a page begins within what is asked for": "takes keys of other partitions",
    "a limit is at least 1": "answers SerializationException for a negative one",
    "an index answers no more than what is projected into it":
      "leaves out what is not projected, without an error",
    "an action is one of four, with what it needs": "takes two actions for one",
    "an expression of a transaction is well formed": "makes it a reason of its action",
    "the first action that does not fit its table is the only reason": "looks for duplicate targets first",
    "a malformed expression is refused before a table is looked for": "looks for the table first",
    "an update of a key is the reason of its action": "changes the key of the item",
    "a transaction gets items in the order of the request":
      "projects the parts of a map that are not asked for too",
    "a batch writes 1 to 25 items, each once": "takes two requests for one",
    "statements update items that are as they say": ONE_SET,
    "an update is refused with the item that is there": ONE_SET,
    "a write that changes nothing is not recorded": "records it as a change",
    "a position has a number where it needs one": "reads on from the beginning",
    "a shard is one that there is": "takes any name of a shard",
    "a reader takes 1 to 1000 records": "takes any number",
    "the stream of a deleted table can be read to its end": "deletes the stream with its table",
    "a table with a stream of nothing is refused": "takes it",
    "what is written can be read from the table's ARN": "takes names only",
    "time to live is switched on and off": "takes what is so already",
  },
};
