import java.lang.reflect.Field;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Restricts DynamoDB Local to this machine; otherwise it listens on all interfaces and accepts any
 * Host and Origin. `javac --release 17 -g:none` compiles the committed class file, so that no
 * compiler is required.
 */
public final class LocalDynamoDb extends Handler.Wrapper {
  private static final Pattern LOCAL =
      Pattern.compile("(?:https?://)?(?:127\\.0\\.0\\.1|localhost|\\[::1])(?::[0-9]{1,5})?");

  private LocalDynamoDb(Handler handler) {
    super(handler);
  }

  public static void main(String[] options) throws Exception {
    DynamoDBProxyServer runner = ServerRunner.createServerFromCommandLineArgs(options);
    Field field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    Server server = (Server) field.get(runner);
    ((ServerConnector) server.getConnectors()[0]).setHost("127.0.0.1");
    server.setHandler(new LocalDynamoDb(server.getHandler()));
    server.start();
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    HttpFields headers = request.getHeaders();
    if (isLocal(headers.get(HttpHeader.HOST)) && isLocal(headers.get(HttpHeader.ORIGIN))) {
      return super.handle(request, response, callback);
    }
    Response.writeError(request, response, callback, 403);
    return true;
  }

  /** Accepts an absent Origin, which no page sends; Jetty rejects an absent Host. */
  private static boolean isLocal(String name) {
    return name == null || LOCAL.matcher(name).matches();
  }
}
